"""The mirror: everything below a cluster's roots, as ZooKeeper holds it, read-only."""
