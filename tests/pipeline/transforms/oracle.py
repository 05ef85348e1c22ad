"""What the tables should hold, told by plain Python from ZooKeeper's own files, one row after the other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.narrowing import sure
from tests.pipeline.writes import file_zxid
from zkdash.cluster.changes import diff
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer.advance import advance
from zkdash.formats.problems import Problem
from zkdash.formats.txnlog import plain, rows
from zkdash.formats.txnlog.rows import Row
from zkdash.kafka import paths
from zkdash.kafka.layouts.partitions import parse_state
from zkdash.kafka.layouts.topics import parse_assignment
from zkdash.kafka.values import Assignment
from zkdash.kafka.znode_kinds import Kind
from zkdash.pipeline.sources.rows import REDACTION
from zkdash.time_units import MINUTE_MS
from zkdash.znode import Batch, Stat, Znode

_CREATES = (rows.CREATE, rows.CREATE2, rows.CREATE_CONTAINER, rows.CREATE_TTL)


def history(files: Path, chroot: str) -> list[Row]:
    """Everything that happened below the chroot, paths stripped, in order; sessions too."""
    found = []
    for log in sorted((files / "version-2").glob("log.*"), key=file_zxid):
        for row in plain.decode(log.read_bytes(), REDACTION):
            if isinstance(row, Problem) or row.failed or row.type in (rows.ERROR, rows.CHECK):
                continue
            if row.path is None:
                found.append(row)
            elif row.path == chroot or row.path.startswith(f"{chroot}/"):
                found.append(row._replace(path=row.path.removeprefix(chroot) or "/"))
    return found


def intervals(told: list[Row]) -> list[tuple[Any, ...]]:  # noqa: C901 - one pass, nothing shared
    """(topic, partition, leader, isr, replicas, from_zxid, to_zxid, from_ms, to_ms), in a fixed order."""
    replicas: dict[str, dict[int, tuple[int, ...]]] = {}
    current: dict[tuple[str, int], Any] = {}
    begun: dict[tuple[str, int], tuple[Any, int, int]] = {}
    made: list[tuple[Any, ...]] = []

    def change(key: tuple[str, int], row: Row) -> None:
        state = current.get(key)
        now = state and (state, replicas.get(key[0], {}).get(key[1]))
        before = begun.get(key)
        if before and before[0] != now:
            (old, assigned), zxid, ms = begun.pop(key)
            made.append((*key, old.leader, list(old.isr), list(assigned), zxid, row.zxid, ms, row.time))
        if now and key not in begun:
            begun[key] = now, row.zxid, row.time

    for row in told:
        if row.path is None:
            continue
        place = paths.locate(row.path)
        gone = row.type in (rows.DELETE, rows.DELETE_CONTAINER, rows.CLOSE_SESSION)
        if place.kind is Kind.STATE:
            key = place.name, int(place.key)
            if gone:
                current.pop(key, None)
            else:
                current[key] = parse_state(row.data)[0]
            change(key, row)
        elif place.kind is Kind.TOPIC and not gone:
            replicas[place.name] = dict(sure(Assignment, parse_assignment(row.data)[0]).partitions)
            for partition in replicas[place.name]:
                change((place.name, partition), row)
    for key, ((state, assigned), zxid, ms) in begun.items():
        made.append((*key, state.leader, list(state.isr), list(assigned), zxid, None, ms, None))
    return sorted(made, key=str)


def minutes(spans: list[tuple[str, int, int, int]], until_ms: int) -> dict[int, tuple[int, float]]:
    """Minute → (partitions, seconds) of (topic, partition, from, to or None)."""
    partitions: dict[int, set[tuple[str, int]]] = defaultdict(set)
    seconds: Counter[int] = Counter()
    for topic, partition, begin, ended in spans:
        end = until_ms if ended is None else ended
        minute = begin - begin % MINUTE_MS
        while minute < end:
            overlap = min(end, minute + MINUTE_MS) - max(begin, minute)
            if overlap > 0:
                partitions[minute].add((topic, partition))
                seconds[minute] += overlap
            minute += MINUTE_MS
    return {minute: (len(found), seconds[minute] / 1000) for minute, found in partitions.items()}


def sayings(told: list[Row]) -> Iterator[tuple[int, str, str | None, str | None]]:
    """What the live pages would have said of each transaction, one by one."""
    state = ClusterState(loaded=True)
    for zxid, parts in groupby(told, key=lambda row: row.zxid):
        changed: dict[str, Znode | None] = {}
        for row in parts:
            if row.path is None or row.type == rows.SET_ACL:
                continue
            gone = row.type in (rows.DELETE, rows.DELETE_CONTAINER, rows.CLOSE_SESSION)
            stat = Stat(zxid, zxid, row.time, row.time, 0, 0, 0, 0, 0, 0, zxid)
            changed[row.path] = None if gone else Znode.of(row.data, stat)
        batch = Batch(changed, zxid)
        after, _ = advance(state, batch)
        yield from (
            (zxid, change.what, change.before, change.after)
            for change in diff(state, after, batch, now_ms=0)
            if change.area != "problems"
        )
        state = after


def prefixes(told: list[Row]) -> Counter[tuple[int, str]]:
    counted: Counter[tuple[int, str]] = Counter()
    for row in told:
        if row.path is not None:
            names = [name for name in row.path.split("/")[1:4] if name]
            for level in range(len(names) + 1):
                counted[row.time - row.time % MINUTE_MS, "/" + "/".join(names[:level])] += 1
    return counted


def commits(told: list[Row]) -> dict[tuple[str, str, str, int], tuple[int, int, int]]:
    """(group, topic, part, minute) → (last offset, its time, how many)."""
    made: dict[tuple[str, str, str, int], tuple[int, int, int]] = {}
    for row in told:
        place = paths.locate(row.path or "")
        if place.kind is Kind.OFFSET and row.type not in (rows.DELETE, rows.CLOSE_SESSION):
            key = place.name, place.key, place.part, row.time - row.time % MINUTE_MS
            made[key] = int(row.data or b""), row.time, made.get(key, (0, 0, 0))[2] + 1
    return made


def writers(told: list[Row]) -> dict[int, tuple[int, int]]:
    """Session → (ephemerals made, changes made)."""
    ephemerals: Counter[int] = Counter()
    writes: Counter[int] = Counter()
    for row in told:
        if row.session and row.path is not None and row.type != rows.CLOSE_SESSION:
            writes[row.session] += 1
            ephemerals[row.session] += row.type in _CREATES and bool(row.ephemeral)
        elif row.session:
            writes[row.session] += 0
    return {session: (ephemerals[session], count) for session, count in writes.items()}
