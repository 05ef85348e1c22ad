"""The only writer."""
