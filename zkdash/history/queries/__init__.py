"""What pages ask of the tables."""
