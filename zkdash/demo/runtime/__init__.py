"""What simulated participants run on: an event loop, a clock, ZooKeeper sessions, restarts, processes."""
