"""A cluster as it was: snapshots made of what was recorded, as a watcher would have made them then."""
