"""Kafka's directories on a disk (`log.dirs`), read only: what lies there, and whether it is sound."""
