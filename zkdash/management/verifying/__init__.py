"""What is configured, tried without changing anything: a module a subject, each a function that finds."""
