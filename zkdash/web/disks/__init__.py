"""Pages of what lies on brokers' disks: from the tables of the newest run of the pipeline, not live."""
