"""DataFrames from tables and into tables."""
