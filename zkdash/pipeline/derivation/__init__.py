"""The derived tables, brought up to what was loaded."""
