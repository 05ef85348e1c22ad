"""Kafka's protocol on a socket: requests are read and responses written, whoever answers."""
