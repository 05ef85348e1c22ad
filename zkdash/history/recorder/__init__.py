"""What a live watcher sees, written into tables."""
