"""ZooKeeper's transaction logs, `version-2/log.<first zxid>`: every write, with its session and time.

`plain` decodes them one transaction at a time, as the format is told; `arrow` makes the same rows many at
a time. Source: org.apache.zookeeper.server.persistence.FileTxnLog, SerializeUtils and zookeeper.jute.
"""
