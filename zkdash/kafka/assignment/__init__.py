"""Who gets what: partitions to threads of consumers, replicas to brokers, leadership to replicas."""
