"""The state of a cluster and the values that it is made of."""
