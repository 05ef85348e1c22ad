"""What becomes of findings: which occurrence of a check's failing it is, who took note of it, who is told."""
