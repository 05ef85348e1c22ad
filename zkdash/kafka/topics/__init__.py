"""What a topic may be called, and what it may override."""
