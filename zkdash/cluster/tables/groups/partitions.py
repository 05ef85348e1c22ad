"""The table of one group's partitions: what it asks for, owns, or has an offset on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import msgspec

from zkdash.cluster.analysis import position
from zkdash.cluster.analysis.position import Positions, Told
from zkdash.cluster.model import groups, summary
from zkdash.cluster.model.groups import Group, Offset
from zkdash.cluster.model.known import Known
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.rebalance.values import Expectation, Part, Verdict
from zkdash.cluster.tables.groups import filters
from zkdash.cluster.tables.groups.filters import Filter
from zkdash.cluster.tables.query import Keys, Query, Selection, choose, window, with_rows
from zkdash.kafka import paths


class GroupPartitionRow(msgspec.Struct, frozen=True):
    """One partition of a group; `partition` is its key ("3", in 0.7 "broker-part").

    `owner` and `expected` are thread ids, `owner` the reason where its znode is not to be had; `verdict` is
    None where the group has only an offset here. `offset` is what ZooKeeper holds, `committed` its mtime.
    `in_kafka` is the group's offset there, `lag` what the furthest of both leaves to read (it keeps its
    sign); these and `log_end` are None where no broker is asked. `path` is the znode of the owner where there
    is one, else of the offset.
    """

    status: Severity
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


class Entry(NamedTuple):
    """One partition before it is shown; they sort by topic and number. `part` is None for a mere offset."""

    topic: str
    order: tuple[int, ...]
    key: str
    part: Part | None


class Catalogue(msgspec.Struct, frozen=True):
    """What is expected of a group, put in order once: nothing of it changes with the group's offsets.

    `known` are its partition keys by topic, `verdicts` counts them, `owned` counts the partitions by member.
    """

    expected: Expectation
    entries: tuple[Entry, ...]
    known: Mapping[str, frozenset[str]]
    verdicts: Mapping[Verdict, int]
    owned: Mapping[str | None, int]


Judged = tuple[Entry, summary.Status]

# What `is:` may ask of a partition; the verdict first, then its offset.
FACTS: Mapping[str, Callable[[Verdict | None, Offset | None], object]] = {
    "unowned": lambda verdict, _: verdict is Verdict.UNOWNED,
    "unregistered": lambda verdict, _: verdict is Verdict.NOT_REGISTERED,
    "unexpected": lambda verdict, _: verdict in {Verdict.OTHER_MEMBER, Verdict.STRAY},
    "bad-offset": lambda _, offset: offset is not None and groups.is_bad(offset),
}


def catalogue(expected: Expectation) -> Catalogue:
    """Put what is expected of a group in order."""
    partitions_of: dict[str, set[str]] = {}
    for part in expected.parts:
        partitions_of.setdefault(part.topic, set()).add(part.key)
    return Catalogue(
        expected,
        tuple(sorted(Entry(part.topic, order(part.key), part.key, part) for part in expected.parts)),
        {topic: frozenset(keys) for topic, keys in partitions_of.items()},
        Counter(part.verdict for part in expected.parts),
        Counter(part.member for part in expected.parts),
    )


def select(
    group: Group,
    catalogue: Catalogue,
    query: Query,
    *,
    settled: bool,
    positions: Positions | None = None,
    kept: Collection[tuple[str, int]] = (),
) -> Selection[GroupPartitionRow]:
    """The partitions of a group, by topic and number unless asked otherwise.

    While the group has not `settled`, an owner other than the expected one is no fault. `kept` are the
    partitions on which it has an offset in Kafka.
    """
    entries = _entries(group, catalogue, kept)
    key, falls = query.order(_keys(group, positions))

    def row(judged_entry: Judged) -> GroupPartitionRow:
        return _row(group, judged_entry[0], judged_entry[1], positions)

    plain = not (query.q.strip() or query.status or falls or group.bad_offsets)
    if plain and key in {None, "topic"}:
        return with_rows(_first(group, catalogue, entries, query, settled=settled), row)
    wanted = filters.parse(query.q, FACTS)
    judged = ((entry, _status(entry, _offset(group, entry), settled=settled)) for entry in entries)
    admitted = [entry for entry in judged if _admits(wanted, group, entry)]
    keys = _keys(group, positions)
    return with_rows(choose(admitted, query, keys, lambda entry: entry[1][0], total=len(entries)), row)


def order(key: str) -> tuple[int, ...]:
    """Sorts partition keys as numbers, those that are none after all others."""
    pieces = key.split("-")
    return tuple(map(int, pieces)) if all(map(paths.is_id, pieces)) else (1 << 63,)


def _entries(group: Group, catalogue: Catalogue, kept: Collection[tuple[str, int]]) -> tuple[Entry, ...]:
    """The catalogue's, and those that have only an offset, in ZooKeeper or in Kafka."""
    nothing: frozenset[str] = frozenset()
    places = {(topic, key) for topic, offsets in group.offsets.items() for key in offsets}
    places.update((topic, str(number)) for topic, number in kept)
    more = [
        Entry(topic, order(key), key, None)
        for topic, key in places
        if key not in catalogue.known.get(topic, nothing)
    ]
    return tuple(sorted((*catalogue.entries, *more))) if more else catalogue.entries


def _first(
    group: Group, catalogue: Catalogue, entries: tuple[Entry, ...], query: Query, *, settled: bool
) -> Selection[Judged]:
    """The default order, of which only the page is judged: the catalogue has counted the verdicts."""
    counts = dict.fromkeys((severity.value for severity in Severity), 0)
    for verdict, count in catalogue.verdicts.items():
        counts[_severity(verdict, settled=settled).value] += count
    counts[Severity.INFO.value] += len(entries) - len(catalogue.entries)
    page, pages, cut = window(query, len(entries))
    rows = tuple((entry, _status(entry, _offset(group, entry), settled=settled)) for entry in entries[cut])
    return Selection(rows, len(entries), len(entries), page, pages, counts)


def _keys(group: Group, positions: Positions | None) -> Keys[Judged]:
    def number(field: str) -> Callable[[Judged], int | None]:
        return lambda judged: _sortable(_told(group, judged[0], positions).get(field))

    return {
        "topic": lambda judged: judged[0][:3],
        "partition": lambda judged: judged[0].order,
        "status": lambda judged: judged[1][0].rank,
        "owner": lambda judged: judged[0].part and judged[0].part.owner,
        "expected": lambda judged: judged[0].part and judged[0].part.expected,
        "offset": lambda judged: _sortable(_value(_offset(group, judged[0]))),
        "in_kafka": number("in_kafka"),
        "log_end": number("log_end"),
        "lag": number("lag"),
        "committed": lambda judged: _committed(_offset(group, judged[0])),
    }


def _admits(wanted: Filter, group: Group, judged: Judged) -> bool:
    entry, (severity, _) = judged
    part = entry.part
    if wanted.facts:
        verdict, offset = None if part is None else part.verdict, _offset(group, entry)
        if not all(FACTS[fact](verdict, offset) for fact in wanted.facts):
            return False
    text = f"{entry.topic} {entry.key} {part.owner if part and part.owner else ''}"
    return wanted.admits(text, severity, (entry.topic,))


def _row(
    group: Group, entry: Entry, status: summary.Status, positions: Positions | None
) -> GroupPartitionRow:
    topic, _, key, part = entry
    owner = group.owners.get(topic, {}).get(key)
    offset = _offset(group, entry)
    position_values = _told(group, entry, positions)
    return GroupPartitionRow(
        status=status[0],
        words=status[1],
        topic=topic,
        partition=key,
        owner=None if owner is None else owner.thread,
        expected=None if part is None else part.expected,
        verdict=None if part is None else part.verdict,
        reason=None if part is None else part.reason,
        offset=_value(offset),
        committed=_committed(offset),
        in_kafka=position_values.get("in_kafka"),
        log_end=position_values.get("log_end"),
        lag=position_values.get("lag"),
        path=paths.offset(group.name, topic, key) if owner is None else paths.owner(group.name, topic, key),
    )


def _told(group: Group, entry: Entry, positions: Positions | None) -> Mapping[str, Told | None]:
    """What brokers tell of a partition, nothing where none is asked."""
    if positions is None:
        return {}
    offset = _offset(group, entry)
    of_brokers = positions(entry.topic, entry.key, _value(offset))
    left = position.lag(of_brokers, _value(offset), _committed(offset))
    return {"in_kafka": of_brokers.in_kafka, "log_end": of_brokers.log_end, "lag": left}


def _offset(group: Group, entry: Entry) -> Offset | None:
    return group.offsets.get(entry.topic, {}).get(entry.key)


def _value(offset: Offset | None) -> Known[int]:
    return None if offset is None else offset.value


def _committed(offset: Offset | None) -> int | None:
    return offset.znode.mtime if offset and offset.znode else None


def _sortable(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _status(entry: Entry, offset: Offset | None, *, settled: bool) -> summary.Status:
    facts: list[summary.Status] = []
    if entry.part is None:
        facts.append((Severity.INFO, "only an offset"))
    elif entry.part.verdict is not Verdict.EXPECTED:
        verdict = entry.part.verdict
        facts.append((_severity(verdict, settled=settled), verdict.value))
    if offset is not None and groups.is_bad(offset):
        facts.append((Severity.WARNING, "bad offset"))
    return summary.worst(facts) if facts else (Severity.OK, Verdict.EXPECTED.value)


def _severity(verdict: Verdict, *, settled: bool) -> Severity:
    """An owner that others expect elsewhere is by design so while a rebalance runs."""
    severity = verdict.severity
    return Severity.INFO if severity is Severity.WARNING and not settled else severity
