"""What every simulated participant runs on: an event loop, a clock, a ZooKeeper session, restarts, processes."""
