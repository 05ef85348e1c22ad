"""Why is this so: what made a topic, a partition, a group or a broker as it is."""
