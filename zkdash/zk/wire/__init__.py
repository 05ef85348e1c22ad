"""A session's bytes: what is sent, what is read, and the sentences where neither works."""
