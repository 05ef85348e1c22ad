"""A look at a partition's messages: fetched from its leader once and now, by nobody's group."""
