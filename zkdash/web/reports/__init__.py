"""What happened between two moments as one file, to be kept and sent: without a script or a network."""
