"""What follows from a state beyond what its znodes say one by one."""
