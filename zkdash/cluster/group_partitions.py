"""The table of one group's partitions: what it asks for, owns, or has an offset on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from zkdash.cluster import group_filters, membership, summary
from zkdash.cluster.group_filters import Filter
from zkdash.cluster.groups import Group, Offset
from zkdash.cluster.query import Keys, Query, Selection, choose
from zkdash.cluster.rebalance.values import Expectation, Part, Verdict
from zkdash.cluster.rows import Known
from zkdash.cluster.tone import Tone
from zkdash.kafka import paths
from zkdash.kafka.values import Unparsable
from zkdash.znode import Unreadable


class Unknown(msgspec.Struct, frozen=True):
    """A number that ZooKeeper does not hold, and why nobody else told it."""

    reason: str


Told = int | Unknown


class Position(msgspec.Struct, frozen=True):
    """What brokers tell of a partition: its log end, and the group's offset that is kept there (or None)."""

    log_end: Told
    in_kafka: Told | None


Positions = Callable[[str, str], Position]  # by topic and partition key


class GroupPartitionRow(msgspec.Struct, frozen=True):
    """One partition of a group; `partition` is its key ("3", in 0.7 "broker-part").

    `owner` and `expected` are thread ids, `owner` the reason where its znode is not to be had; `verdict` is
    None where the group has only an offset here. `offset` is what ZooKeeper holds, `committed` its mtime.
    `in_kafka` is the group's offset there, `lag` what the furthest of both leaves to read (it keeps its
    sign); these and `log_end` are None where no broker is asked. `path` is the znode of the owner where there
    is one, else of the offset.
    """

    status: Tone
    words: str
    topic: str
    partition: str
    owner: Known[str]
    expected: str | None
    verdict: Verdict | None
    reason: str | None
    offset: Known[int]
    committed: int | None
    in_kafka: Told | None
    log_end: Told | None
    lag: Told | None
    path: str


# What `is:` may ask of a partition.
FACTS: Mapping[str, Callable[[GroupPartitionRow], object]] = {
    "unowned": lambda row: row.verdict is Verdict.UNOWNED,
    "unregistered": lambda row: row.verdict is Verdict.NOT_REGISTERED,
    "unexpected": lambda row: row.verdict in {Verdict.OTHER_MEMBER, Verdict.STRAY},
    "bad-offset": lambda row: isinstance(row.offset, Unparsable) or _number(row.offset, 0) < 0,
}
_KEYS: Keys[GroupPartitionRow] = {
    "topic": lambda row: (row.topic, order(row.partition), row.partition),
    "partition": lambda row: order(row.partition),
    "status": lambda row: row.status.rank,
    "owner": lambda row: row.owner if isinstance(row.owner, str) else None,
    "expected": lambda row: row.expected,
    "offset": lambda row: row.offset if isinstance(row.offset, int) else None,
    "in_kafka": lambda row: row.in_kafka if isinstance(row.in_kafka, int) else None,
    "log_end": lambda row: row.log_end if isinstance(row.log_end, int) else None,
    "lag": lambda row: row.lag if isinstance(row.lag, int) else None,
    "committed": lambda row: row.committed,
}


def select(
    group: Group, expected: Expectation, query: Query, *, settled: bool, positions: Positions | None = None
) -> Selection[GroupPartitionRow]:
    """The partitions of a group, by topic and number unless asked otherwise.

    While the group has not `settled`, an owner other than the expected one is no fault.
    """
    every = sorted(_rows(group, expected, positions, settled=settled), key=_KEYS["topic"])
    wanted = group_filters.parse(query.q, FACTS)
    found = [row for row in every if _admits(wanted, row)]
    return choose(found, query, _KEYS, lambda row: row.status, total=len(every))


def order(key: str) -> tuple[int, ...]:
    """Sorts partition keys as numbers, those that are none after all others."""
    pieces = key.split("-")
    return tuple(map(int, pieces)) if all(map(paths.is_id, pieces)) else (1 << 63,)


def _admits(wanted: Filter, row: GroupPartitionRow) -> bool:
    owner = row.owner if isinstance(row.owner, str) else ""
    text = f"{row.topic} {row.partition} {owner}"
    return all(FACTS[fact](row) for fact in wanted.facts) and wanted.admits(text, row.status, (row.topic,))


def _rows(
    group: Group, expected: Expectation, positions: Positions | None, *, settled: bool
) -> Iterator[GroupPartitionRow]:
    seen: set[tuple[str, str]] = set()
    for part in expected.parts:
        seen.add((part.topic, part.key))
        yield _row(group, part.topic, part.key, part, positions, settled=settled)
    for topic, offsets in group.offsets.items():
        for key in offsets:
            if (topic, key) not in seen:
                yield _row(group, topic, key, None, positions, settled=settled)


def _row(
    group: Group, topic: str, key: str, part: Part | None, positions: Positions | None, *, settled: bool
) -> GroupPartitionRow:
    owner = group.owners.get(topic, {}).get(key)
    offset = group.offsets.get(topic, {}).get(key)
    tone, words = summary.worst(_facts(part, offset, settled=settled))
    told = positions(topic, key) if positions else None
    value = None if offset is None else offset.value
    return GroupPartitionRow(
        status=tone,
        words=words,
        topic=topic,
        partition=key,
        owner=None if owner is None else owner.thread,
        expected=None if part is None else part.expected,
        verdict=None if part is None else part.verdict,
        reason=None if part is None else part.reason,
        offset=value,
        committed=offset.znode.mtime if offset and offset.znode else None,
        in_kafka=None if told is None else told.in_kafka,
        log_end=None if told is None else told.log_end,
        lag=None if told is None else lag(told, value),
        path=paths.offset(group.name, topic, key) if owner is None else paths.owner(group.name, topic, key),
    )


def _facts(part: Part | None, offset: Offset | None, *, settled: bool) -> list[summary.Status]:
    facts: list[summary.Status] = []
    if part is None:
        facts.append((Tone.INFO, "only an offset"))
    elif part.verdict is not Verdict.EXPECTED:
        tone = part.verdict.tone
        # An owner that others expect elsewhere is by design so while a rebalance runs.
        calm = not settled and tone is Tone.WARNING
        facts.append((Tone.INFO if calm else tone, part.verdict.value))
    if offset is not None and membership.is_bad(offset):
        facts.append((Tone.WARNING, "bad offset"))
    elif offset is not None and isinstance(offset.value, Unreadable):
        facts.append((Tone.UNKNOWN, "offset unreadable"))
    return facts or [(Tone.OK, Verdict.EXPECTED.value)]


def lag(told: Position, offset: Known[int]) -> Told | None:
    """From the furthest offset to the log's end; None where nothing was committed."""
    places = [place for place in (offset, told.in_kafka) if isinstance(place, int)]
    if not places:
        return told.in_kafka if isinstance(told.in_kafka, Unknown) else None
    return told.log_end if isinstance(told.log_end, Unknown) else told.log_end - max(places)


def _number(value: Known[int], otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise
