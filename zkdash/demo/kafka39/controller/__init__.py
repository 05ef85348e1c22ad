"""The controller, after kafka.controller of 3.9."""
