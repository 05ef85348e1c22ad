"""The tables of groups, and of one group's partitions."""
