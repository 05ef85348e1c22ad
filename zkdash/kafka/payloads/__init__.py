"""What is written into znodes to ask Kafka for something, and how a document of others is edited."""
