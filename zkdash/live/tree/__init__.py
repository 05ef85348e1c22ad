"""The tree of znodes as the browser shows it."""
