"""What one broker carries, and what brokers tell of groups that ZooKeeper does not know."""
