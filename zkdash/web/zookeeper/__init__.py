"""The pages of ZooKeeper itself: the ensemble, the tree of znodes, sessions."""
