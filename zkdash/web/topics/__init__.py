"""The pages of topics."""
