"""Where tables lie, and how what does not lie on this machine is reached."""
