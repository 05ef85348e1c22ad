"""Spark: what ZooKeeper's and Kafka's files tell, as tables. A process of its own; pages never import it."""
