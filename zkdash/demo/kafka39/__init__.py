"""A simulated cluster of Kafka 3.9 in ZooKeeper mode."""
