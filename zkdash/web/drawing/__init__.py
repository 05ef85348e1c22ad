"""Pictures: pure functions from values to SVG, which stand beside the tables of the same values."""
