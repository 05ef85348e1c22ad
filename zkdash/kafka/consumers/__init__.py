"""Consumers that keep their state in ZooKeeper: ids, subscriptions, offsets."""
