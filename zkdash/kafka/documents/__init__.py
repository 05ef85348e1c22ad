"""JSON and plain text as Kafka writes them into znodes, read without ever raising."""
