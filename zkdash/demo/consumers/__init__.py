"""Old consumers, of 0.7 and of 0.8 to 1.1: they register, rebalance, and commit offsets."""
