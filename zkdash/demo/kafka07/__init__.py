"""A simulated cluster of Kafka 0.7."""
