"""The embedded real ZooKeeper."""
