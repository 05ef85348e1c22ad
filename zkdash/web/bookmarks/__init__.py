"""Moments of a cluster that people keep, with a note."""
