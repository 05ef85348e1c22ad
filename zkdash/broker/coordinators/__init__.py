"""What a coordinator says of how it keeps the offsets of groups."""
