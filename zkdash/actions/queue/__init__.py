"""The queue as people use it."""
