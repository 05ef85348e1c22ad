"""What each option of a topic does, in a line.

Source: org.apache.kafka.common.config.TopicConfig; kafka.server.DynamicConfig for the throttles.
"""

from __future__ import annotations

from typing import Final

MEANINGS: Final = {
    "cleanup.policy": "what becomes of old segments: deleted, or compacted to the last value of each key",
    "compression.gzip.level": "how hard gzip compresses, where the broker compresses",
    "compression.lz4.level": "how hard lz4 compresses, where the broker compresses",
    "compression.type": "how batches are stored: by this codec, or as the producer sent them",
    "compression.zstd.level": "how hard zstd compresses, where the broker compresses",
    "delete.retention.ms": "how long a compacted topic keeps the marker of a deleted key",
    "file.delete.delay.ms": "how long a deleted segment stays on disk",
    "flush.messages": "after how many messages the log is forced to disk",
    "flush.ms": "after what time the log is forced to disk",
    "follower.replication.throttled.replicas": "what followers fetch slowly, partition:broker",
    "index.interval.bytes": "how many bytes of messages lie between two entries of the index",
    "leader.replication.throttled.replicas": "what leaders serve slowly, partition:broker",
    "local.retention.bytes": "how much of a partition in remote storage stays local; -2 as retention.bytes",
    "local.retention.ms": "how long a segment in remote storage stays local; -2 as retention.ms",
    "max.compaction.lag.ms": "after what time a message must be open to compaction",
    "max.message.bytes": "the largest batch that the topic takes",
    "message.downconversion.enable": "whether the broker rewrites batches for old consumers",
    "message.format.version": "the format that messages are stored in, until 3.0",
    "message.timestamp.after.max.ms": "how far ahead of the broker a message's time may be",
    "message.timestamp.before.max.ms": "how far behind the broker a message's time may be",
    "message.timestamp.difference.max.ms": "how far from the broker's a message's time may be",
    "message.timestamp.type": "whose time a message has: its producer's, or that of its arrival",
    "min.cleanable.dirty.ratio": "what share of the log must be uncompacted before it is compacted",
    "min.compaction.lag.ms": "how long a message stays uncompacted at least",
    "min.insync.replicas": "how many replicas must have a message before acks=all is answered",
    "preallocate": "whether a segment's file is made in full size at once",
    "remote.storage.enable": "whether old segments go to remote storage",
    "retention.bytes": "how large each partition may grow before old segments go; -1 without limit",
    "retention.ms": "how old messages may grow before their segment goes; -1 without limit",
    "segment.bytes": "how large one segment's file may grow",
    "segment.index.bytes": "how large one segment's index may grow",
    "segment.jitter.ms": "how much sooner than segment.ms a segment may end, at random",
    "segment.ms": "after what time a new segment begins, full or not",
    "unclean.leader.election.enable": "whether a replica out of sync may lead, which loses messages",
}
