"""Spark's session: its settings, its JVM, the archive that this starts from, and what is left on the disk."""
