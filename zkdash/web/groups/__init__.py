"""The pages of consumer groups."""
