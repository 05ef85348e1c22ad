"""Kafka's arithmetic of who gets what: partitions to threads, replicas to brokers."""
