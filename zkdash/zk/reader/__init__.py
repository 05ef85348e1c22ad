"""Reads beside the mirror: what plans stand on, and what pages look at."""
