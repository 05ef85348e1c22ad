"""Kafka's directories on a disk (`log.dirs`), read only: what lies there, and what `formats.inspection` makes of it."""
