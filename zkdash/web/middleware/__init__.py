"""What holds for every request before a view has it: headers, origins, the log, the size of bodies."""
