"""A look at a partition's messages: what is asked for, who may, and how it is shown."""
