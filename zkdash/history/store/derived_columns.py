"""The tables that `pipeline` derives from `changes` and makes of brokers' disks, and the recorder's log ends:
columns and meaning.

Times are epoch ms by the leader's clock, kept as they are even where it went back; order is that of zxids. A
`minute` is the epoch ms at which a minute begins. Files lie by day (UTC) in directories date=YYYY-MM-DD:
readers see a column `date` beside these wherever a table has a file, and should not need it. The schemas are
in `derived`, since pages tell of tables without Arrow.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Column(NamedTuple):
    """A column: its name, what it holds (a kind of Arrow's, by its name), what it means."""

    name: str
    kind: str
    meaning: str


_LONG, _INT, _TEXT, _BOOL, _FLOAT = "int64", "int32", "string", "bool", "float64"
_BROKERS, _TEXTS = "list of int32", "list of string"

_GROUP: Final = Column("group", _TEXT, "the consumer group")
_OF: Final = Column("topic", _TEXT, "the topic")
_PART: Final = Column("part", _TEXT, "the partition as offsets are keyed: 3, or 0.7's 1-0 (broker-partition)")
_MINUTE: Final = Column("minute", _LONG, "when the minute began")
_FROM: Final = Column("from_ms", _LONG, "when it began")
_TO: Final = Column("to_ms", _LONG, "when it ended; null while it lasts")
_FROM_ZXID: Final = Column("from_zxid", _LONG, "the transaction that began it")
_TO_ZXID: Final = Column("to_zxid", _LONG, "the transaction that ended it; null while it lasts")
_SPAN: Final = (_FROM, _TO, _FROM_ZXID, _TO_ZXID)

_ON: Final = Column("broker", _INT, "the broker; null where nobody knows: meta.properties does not tell it")
_DIRECTORY: Final = Column("directory", _TEXT, "which of its log.dirs")
_NUMBER: Final = Column("partition", _INT, "the partition")
_AS_OF: Final = Column("as_of_ms", _LONG, "when the run looked at it")
_UNREAD: Final = "null where it is unknown: it was not read yet"

# What a row of each table is.
MEANINGS: Final[dict[str, str]] = {
    "partition_intervals": "A partition's state from one change of it to the next.",
    "under_replicated_minutes": "Partitions under-replicated or offline in a minute; none without any.",
    "leader_churn": "How often leaders changed in a minute, by topic.",
    "controller_epochs": "Who was the controller, from when to when.",
    "broker_sessions": "A broker's registration, for as long as its znode was there.",
    "rebalances": "A rebalance of a group: changes of its owners that follow each other within ten seconds.",
    "offset_rates": "A committed offset, one sample a minute, and how fast it rose.",
    "lag_estimates": "A group's lag on a partition in a minute of which the log end is known.",
    "idle_groups": "A group that has no member now.",
    "hot_paths": "Who eats the writes: changes at or below a path in a minute.",
    "sessions": "A session of the ensemble, and what it did below the cluster's chroot.",
    "timeline": "What a change means, in the words of the live pages.",
    "log_ends": "A partition's log start and end, as the recorder asked the brokers for it.",
    "log_segments": "A segment of a log on a broker's disk, as the newest run of the pipeline saw it.",
    "replica_logs": "A replica's log on a broker's disk, held against the first one of its partition.",
    "disk_usage": "What a broker's disk held of a topic, once an hour at most.",
}

COLUMNS: Final[dict[str, tuple[Column, ...]]] = {
    "partition_intervals": (
        _OF,
        Column("partition", _INT, "the partition"),
        Column("leader", _INT, "the broker that led, -1 for none; null where the state did not parse"),
        Column("isr", _BROKERS, "the in-sync replicas; null where the state did not parse"),
        Column("replicas", _BROKERS, "the assigned replicas, the preferred leader first; null if unknown"),
        Column("leader_epoch", _INT, "as in the state"),
        Column("controller_epoch", _INT, "as in the state"),
        *_SPAN,
        Column(
            "is_under_replicated",
            _BOOL,
            "fewer in sync than assigned, while it moves than it had; null where one of them is unknown",
        ),
        Column("is_offline", _BOOL, "it had no leader; null where the state did not parse"),
    ),
    "under_replicated_minutes": (
        _MINUTE,
        Column("partitions", _LONG, "partitions that were under-replicated at any time of the minute"),
        Column("partition_seconds", _FLOAT, "for how long, over all of them"),
        Column("offline_partitions", _LONG, "partitions that had no leader at any time of the minute"),
        Column("offline_seconds", _FLOAT, "for how long, over all of them"),
    ),
    "leader_churn": (
        _MINUTE,
        _OF,
        Column("changes", _LONG, "how often a partition of the topic got another leader, or lost its one"),
    ),
    "controller_epochs": (
        Column("epoch", _INT, "the epoch that it counted up to; null where it had not, or nobody knows"),
        Column("broker", _INT, "the broker; null where the znode did not parse"),
        *_SPAN,
    ),
    "broker_sessions": (
        Column("broker", _INT, "the broker's id"),
        Column("session", _LONG, "signed id of the session that held the registration"),
        Column("host", _TEXT, "as registered last"),
        Column("port", _INT, "as registered last"),
        Column("rack", _TEXT, "as registered last; null for none"),
        *_SPAN,
        Column("ended", _TEXT, "session: closed or expired; deleted: by a client; null while it lasts"),
    ),
    "rebalances": (
        _GROUP,
        _FROM,
        Column("to_ms", _LONG, "when the last owner came or went; null while it may go on"),
        _FROM_ZXID,
        Column("to_zxid", _LONG, "the transaction of the last change of an owner; null while it may go on"),
        Column("topics", _TEXTS, "the topics of which owners came or went, sorted"),
        Column("moved", _LONG, "partitions owned by another thread afterwards than before, or by none"),
        Column("members_before", _LONG, "members before it"),
        Column("members_after", _LONG, "members after it"),
        Column(
            "cause",
            _TEXT,
            "member joined, member left, members changed, brokers changed, partitions changed, or unknown",
        ),
    ),
    "offset_rates": (
        _GROUP,
        _OF,
        _PART,
        _MINUTE,
        Column("offset", _LONG, "the last one committed in the minute"),
        Column("committed_ms", _LONG, "when that was"),
        Column(
            "per_second",
            _FLOAT,
            "messages a second since the sample before; null where there is none of this day or the day "
            "before, or the offset went back",
        ),
        Column("commits", _LONG, "commits in the minute"),
    ),
    "lag_estimates": (
        _GROUP,
        _OF,
        _PART,
        _MINUTE,
        Column("offset", _LONG, "the last one committed by the end of the minute"),
        Column("log_end", _LONG, "the last log end sampled in the minute"),
        Column("lag", _LONG, "log_end - offset, never below 0: offset and log end are not of one moment"),
    ),
    "idle_groups": (
        _GROUP,
        Column("last_commit_ms", _LONG, "its last commit; null where it never committed"),
        Column("last_member_ms", _LONG, "when its last member went; null where none was ever seen"),
        Column("partitions", _LONG, "partitions of which it has an offset"),
    ),
    "hot_paths": (
        _MINUTE,
        Column("prefix", _TEXT, "/, /consumers, /consumers/billing, /consumers/billing/offsets"),
        Column("writes", _LONG, "changes at or below it: creates, writes, removals"),
        Column("bytes", _LONG, "of data that they wrote, secrets as they were hidden"),
    ),
    "sessions": (
        Column("session", _LONG, "signed id"),
        Column("from_ms", _LONG, "when it began, or was first heard of where the logs begin later"),
        Column("to_ms", _LONG, "when it ended; null while it lasts"),
        Column("timeout_ms", _LONG, "as negotiated; null where the change log does not tell"),
        Column("ephemerals", _LONG, "ephemerals that it made below the chroot"),
        Column("writes", _LONG, "changes that it made below the chroot"),
        Column("ended", _TEXT, "closed: by its client or by expiry, which look alike; null while it lasts"),
    ),
    "timeline": (
        Column("time", _LONG, "when"),
        Column("zxid", _LONG, "the transaction; null of what a watcher cannot know"),
        Column("op_index", _INT, "place within the transaction"),
        Column("area", _TEXT, "brokers, controller, topics, groups, admin"),
        Column("what", _TEXT, "a sentence"),
        Column("before", _TEXT, "the value before; null for none"),
        Column("after", _TEXT, "the value after; null for none"),
        Column("path", _TEXT, "under the cluster's chroot"),
        Column("topic", _TEXT, "where it is of one"),
        Column("partition", _INT, "where it is of one"),
        Column("broker", _INT, "where it is of one"),
        Column("group", _TEXT, "where it is of one"),
    ),
    "log_ends": (
        _OF,
        Column("part", _TEXT, "the partition, keyed as in offset_rates"),
        Column("time", _LONG, "when the broker answered, by the recorder's clock"),
        Column("log_start", _LONG, "the first offset there is"),
        Column("log_end", _LONG, "the offset that the next message gets"),
    ),
    "log_segments": (
        _ON,
        _DIRECTORY,
        _OF,
        _NUMBER,
        Column("base_offset", _LONG, "its first offset; of 0.7 the byte of the partition at which it begins"),
        Column("next_offset", _LONG, f"the offset behind its last whole entry; {_UNREAD}"),
        Column("bytes", _LONG, "its size"),
        Column("changed_ms", _LONG, "when the file was changed"),
        Column(
            "first_ms", _LONG, f"the newest timestamp of its first entry; {_UNREAD}, or has no timestamps"
        ),
        Column("last_ms", _LONG, f"the newest timestamp in it; {_UNREAD}, or has no timestamps"),
        Column("entries", _LONG, f"its entries, batches or messages; {_UNREAD}"),
        Column("records", _LONG, f"records, markers of transactions among them; {_UNREAD}, or is damaged"),
        Column("codecs", _TEXTS, f"how its entries are compressed; {_UNREAD}"),
        Column("leader_epoch", _INT, f"that of its last batch; {_UNREAD}, or is of before 0.11"),
        Column("whole_bytes", _LONG, f"where its last whole entry ends; {_UNREAD}"),
        Column("tail", _TEXT, "what follows that; null where nothing does, or it was not read yet"),
        Column("damaged", _LONG, f"entries whose checksum does not hold; {_UNREAD}"),
        _AS_OF,
    ),
    "replica_logs": (
        _ON,
        _DIRECTORY,
        _OF,
        _NUMBER,
        Column(
            "log_start", _LONG, "its first offset, as its broker noted it, else that of its first segment"
        ),
        Column("log_end", _LONG, f"the offset behind its last whole entry; {_UNREAD}"),
        Column("segments", _LONG, "how many there are"),
        Column("bytes", _LONG, "of all of them"),
        Column("leader_epoch", _INT, f"that of its last batch; {_UNREAD}, or is of before 0.11"),
        Column("high_watermark", _LONG, "as its broker noted it; null where it noted none"),
        Column("recovery_point", _LONG, "as its broker noted it; null where it noted none"),
        Column(
            "reference",
            _INT,
            "the broker of the partition's first replica, with which it is compared; null for none",
        ),
        Column("compared_from", _LONG, "the first offset of what was compared; null for nothing"),
        Column("compared_upto", _LONG, "the offset behind what was compared; null for nothing"),
        Column("differs_at", _LONG, "the first offset at which both differ; null where they do not"),
        Column("differing", _LONG, "how many entries differ; null where nothing was compared"),
        Column("difference", _TEXT, "how they differ there; null where they do not"),
        _AS_OF,
    ),
    "disk_usage": (
        _MINUTE,
        _ON,
        _OF,
        Column("partitions", _LONG, "replicas of the topic that lie there"),
        Column("segments", _LONG, "of all of them"),
        Column("bytes", _LONG, "of all segments"),
    ),
}
