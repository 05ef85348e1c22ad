"""What lies on the disks of a cluster's brokers: log directories as tables, of the newest run alone."""
