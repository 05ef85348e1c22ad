"""A month of history as the pipeline leaves it: an hour's rows, with the times and transactions of each hour.

What is written are the changes, the tables that Trends and a timeline read, and intervals of partitions. Most
changes are commits of offsets, each of a partition that no other one of its minute is of: so there is as much
to tell of a minute as there can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench import tree
from bench.history import BEGAN
from bench.sizes import Shape
from zkdash.cluster.changes import row
from zkdash.history.store import derived, files, schemas
from zkdash.history.store.delta import File, Table
from zkdash.pipeline.derivation import inputs
from zkdash.pipeline.storage import day_partitions
from zkdash.time_units import DAY_MS, HOUR_MS, MINUTE_MS

_MINUTES: Final = HOUR_MS // MINUTE_MS
_COMMITS: Final = 0.95  # of all changes; the others move leaders
_WRITERS: Final = 2  # files at a time: more would take more memory
_BEHIND: Final = 17  # messages, each partition
_TIMES: Final = frozenset({"minute", "committed_ms", "time", "from_ms", "to_ms"})
_ZXIDS: Final = frozenset({"zxid", "zxid_after", "zxid_upto", "from_zxid", "to_zxid"})


class Month(NamedTuple):
    """What was written: until when (epoch ms), which transaction, paths that changed, and rows by table."""

    to_ms: int
    upto: int
    paths: tuple[str, ...]
    rows: Mapping[str, int]


def write(directory: Path, shape: Shape, changes: int, days: int) -> Month:
    """The tables of so many changes, spread evenly over `days`, to a cluster of this shape."""
    hours = days * 24
    in_a_minute = changes // (hours * _MINUTES)
    commits = int(in_a_minute * _COMMITS)
    minute = _Minute(shape, commits, in_a_minute - commits)
    rows = {}
    with ThreadPoolExecutor(_WRITERS) as pool:
        for name, hour in minute.hour().items():
            table = Table(directory / name)
            at_once = 1 if hour.num_rows * 24 > day_partitions.MOST_ROWS_A_DAY else 24
            write = partial(_write, table, hour, at_once, in_a_minute * _MINUTES)
            for added in pool.map(write, range(0, hours, at_once)):
                table.append(added)
            rows[name] = hour.num_rows * hours
    covered = {"from_ms": [BEGAN], "to_ms": [BEGAN + days * DAY_MS], "from_zxid": [1]}
    covered["to_zxid"] = [in_a_minute * _MINUTES * hours]
    files.append(Table(directory / "covered_times"), _rows(derived.TABLES["covered_times"], covered))
    return Month(covered["to_ms"][0], covered["to_zxid"][0], tuple(dict.fromkeys(minute.states)), rows)


def mark_derived(directory: Path, month: Month) -> None:
    """Have the pipeline go on with the tables of a month, as if it had derived them from logs."""
    for name in (*derived.TABLES, "held"):
        table = Table(directory / name)
        positions = {inputs.key(row.LOGGED): month.upto, inputs.AS_OF: month.to_ms}
        table.replace(table.read(), (), (), positions=positions)


def _write(table: Table, hour: pa.Table, at_once: int, changes: int, first: int) -> list[File]:
    """One file, of so many hours from the first on."""
    some = pa.concat_tables(_later(hour, first + more, changes) for more in range(at_once))
    return files.write(table, some, day=f"2026-01-{first // 24 + 1:02}")


def _later(hour: pa.Table, hours: int, changes: int) -> pa.Table:
    """The rows of the first hour as those of another, by so many changes an hour."""
    for number, name in enumerate(hour.column_names):
        added = hours * HOUR_MS if name in _TIMES else hours * changes if name in _ZXIDS else 0
        if added:
            hour = hour.set_column(number, hour.schema.field(number), pc.add(hour.column(name), added))
    return hour


def _rows(schema: pa.Schema, columns: Mapping[str, Any]) -> pa.Table:
    """Rows of a table of ours; what is not told is null."""
    (count,) = {len(values) for values in columns.values()}
    return pa.table(
        [
            pa.array(columns[field.name], field.type)
            if field.name in columns
            else pa.nulls(count, field.type)
            for field in schema
        ],
        schema=schema,
    )


class _Minute:
    """So many commits and moves of leaders in a cluster of this shape, of which an hour has sixty."""

    def __init__(self, shape: Shape, commits: int, moves: int) -> None:
        self._commits, self._moves = commits, moves
        self._groups = [f"group-{number % shape.groups:05}" for number in range(commits)]
        self._consumed = [tree.topic_name(number % shape.topics) for number in range(commits)]
        self._parts = [str(number // shape.groups) for number in range(commits)]
        self._moved = [tree.topic_name(number * 7 % shape.topics) for number in range(moves)]
        self.states = [
            f"/brokers/topics/{topic}/partitions/{number % shape.partitions}/state"
            for number, topic in enumerate(self._moved)
        ]
        self._offsets = [
            f"/consumers/{group}/offsets/{topic}/{part}"
            for group, topic, part in zip(self._groups, self._consumed, self._parts, strict=True)
        ]

    def hour(self) -> dict[str, pa.Table]:
        """An hour's rows of each table, in no order where Spark puts them into none."""
        of_each_commit = {"group": self._groups, "topic": self._consumed, "part": self._parts}
        commits = self._all(of_each_commit, self._commits)
        offsets = commits["minute"] // MINUTE_MS * 1_000
        sampled = {**commits, "offset": offsets}
        topics = sorted(set(self._moved))
        prefixes, writes = self._prefixes()
        made: dict[str, dict[str, Any]] = {
            "offset_rates": {
                **sampled,
                "committed_ms": commits["minute"] + 1_000,
                "per_second": np.full(len(offsets), 16.7),
                "commits": np.ones(len(offsets), dtype=np.int64),
            },
            "lag_estimates": {
                **sampled,
                "log_end": offsets + _BEHIND,
                "lag": np.full(len(offsets), _BEHIND),
            },
            "hot_paths": self._all({"prefix": prefixes, "writes": writes, "bytes": writes}, len(prefixes)),
            "leader_churn": self._all(
                {"topic": topics, "changes": [self._moved.count(topic) for topic in topics]}, len(topics)
            ),
            "under_replicated_minutes": self._all(
                {
                    "partitions": [self._moves],
                    "partition_seconds": [30.0 * self._moves],
                    "offline_partitions": [0],
                    "offline_seconds": [0.0],
                },
                1,
            ),
            "timeline": self._timeline(),
            "partition_intervals": self._intervals(),
            "rebalances": {
                "group": self._groups[:10],
                "from_ms": [BEGAN + number * MINUTE_MS for number in range(len(self._groups[:10]))],
                "to_ms": [BEGAN + number * MINUTE_MS + 900 for number in range(len(self._groups[:10]))],
                "cause": ["member joined"] * len(self._groups[:10]),
            },
        }
        tables = {name: _rows(derived.TABLES[name], columns) for name, columns in made.items()}
        return {"changes": self._changes(), **tables}

    def _all(self, columns: Mapping[str, Sequence[Any]], count: int) -> dict[str, Any]:
        """What there is of each minute, of all minutes of the first hour."""
        order = np.random.default_rng(1).permutation(count * _MINUTES)
        minutes = BEGAN + order // count * MINUTE_MS if count else order
        taken = {name: pa.array(values).take(pa.array(order % count)) for name, values in columns.items()}
        return {"minute": minutes, **taken}

    def _prefixes(self) -> tuple[list[str], list[int]]:
        """Three levels of each path that was written, and how often at or below."""
        counted: dict[str, int] = {}
        for path in (*self.states, *self._offsets):
            names = path.split("/")[1:4]
            for upto in range(len(names) + 1):
                prefix = "/" + "/".join(names[:upto])
                counted[prefix] = counted.get(prefix, 0) + 1
        return list(counted), list(counted.values())

    def _timeline(self) -> dict[str, Any]:
        """What moves mean, in the order in which they were."""
        count, a_minute = self._moves * _MINUTES, self._commits + self._moves
        number = np.arange(count)
        minute, place = number // self._moves, number % self._moves
        of_minute = pa.array(place)
        return {
            "time": BEGAN + minute * MINUTE_MS + place,
            "zxid": 1 + minute * a_minute + place,
            "op_index": np.zeros(count, dtype=np.int32),
            "area": ["topics"] * count,
            "what": pa.array([f"leader of {topic} moved" for topic in self._moved]).take(of_minute),
            "before": ["1"] * count,
            "after": ["2"] * count,
            "path": pa.array(self.states).take(of_minute),
            "topic": pa.array(self._moved).take(of_minute),
        }

    def _intervals(self) -> dict[str, Any]:
        """The state that a partition was in from the minute in which it moved to the next one."""
        count, a_minute = self._moves * _MINUTES, self._commits + self._moves
        number = np.arange(count)
        minute, place = number // self._moves, number % self._moves
        of_minute = pa.array(place)
        broker = pa.array(
            [[1 + number % tree.BROKERS] for number in range(self._moves)], pa.list_(pa.int32())
        )
        began, zxid = BEGAN + minute * MINUTE_MS + place, 1 + minute * a_minute + place
        return {
            "topic": pa.array(self._moved).take(of_minute),
            "partition": pa.array([int(path.split("/")[-2]) for path in self.states], pa.int32()).take(
                of_minute
            ),
            "leader": pc.list_element(broker, 0).take(of_minute),
            "isr": broker.take(of_minute),
            "replicas": broker.take(of_minute),
            "from_ms": began,
            "to_ms": began + MINUTE_MS,
            "from_zxid": zxid,
            "to_zxid": zxid + a_minute,
            "is_under_replicated": np.zeros(count, dtype=np.bool_),
            "is_offline": np.zeros(count, dtype=np.bool_),
        }

    def _changes(self) -> pa.Table:
        """What a watcher saw, in the order in which it was: the moves of a minute, then its commits."""
        paths = [*self.states, *self._offsets]
        data = [
            tree.state(1 + number % tree.BROKERS, [1 + number % tree.BROKERS])
            for number in range(self._moves)
        ]
        data += [str(number * 1_000).encode() for number in range(self._commits)]
        number = np.arange(len(paths) * _MINUTES)
        place = pa.array(number % len(paths))
        return _rows(
            schemas.CHANGES,
            {
                "zxid": 1 + number,
                "zxid_after": number,
                "zxid_upto": 1 + number,
                "op_index": np.zeros(len(number), dtype=np.int32),
                "time": BEGAN + number // len(paths) * MINUTE_MS + number % len(paths),
                "type": ["setData"] * len(number),
                "path": pa.array(paths).take(place),
                "data": pa.array(data).take(place),
                "version": number // len(paths),
                "source": [row.WATCHED] * len(number),
            },
        )
