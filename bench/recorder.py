"""What recording costs a core while groups commit, and how much a minute of it takes on disk."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from bench.groups import COMMITS_A_SECOND
from bench.result import Goal, Number, Result
from bench.sizes import Size
from zkdash.history.recorder.recorder import FLUSH_S
from zkdash.history.recorder.recording import Recording
from zkdash.history.store.changelog import Flush, Log
from zkdash.history.store.schemas import TABLES
from zkdash.history.store.watching import NAME
from zkdash.znode import Batch, Stat, Znode

_PARTITIONS = 2  # of which each group commits offsets


def run(size: Size) -> Result:
    """A minute of commits, which are thinned, and as many other writes, which are not.

    They are handed over once a second as the mirror does; no ZooKeeper is asked.
    """
    places = [
        f"group-{group}/%s/topic-{group % 50}/{part}"
        for group in range(size.groups.groups)
        for part in range(_PARTITIONS)
    ]
    commits = _side([f"/consumers/{place % 'offsets'}" for place in places])
    writes = _side([f"/consumers/{place % 'owners'}" for place in places])
    return Result(
        "recorder",
        size.name,
        {
            f"{COMMITS_A_SECOND:,} commits a second of {size.groups.groups:,} groups": commits,
            "as many other writes": writes,
        },
        (Goal("share of a core of commits", commits["share of a core"], 0.05, is_of_core=True),),
    )


def _side(paths: list[str]) -> dict[str, Number]:
    recording = Recording()
    recording.load(Batch({path: _offset(1) for path in paths}, 1, whole=True))
    batches = list(_commits(paths))
    began = time.process_time()
    for batch in batches:
        recording.add(batch, 0)
    changes = recording.take()
    with tempfile.TemporaryDirectory() as directory:
        log = Log(Path(directory))
        log.open()
        log.write(Flush(log.next(), {"changes": changes, NAME: TABLES[NAME].empty_table()}))
        spent = time.process_time() - began
        written = sum(path.stat().st_size for path in Path(directory).rglob("*.parquet"))
    return {
        "share of a core": spent / FLUSH_S,
        "CPU, µs a write": spent / len(batches) / COMMITS_A_SECOND * 1e6,
        "rows a minute": changes.num_rows,
        "bytes a minute": written,
    }


def _commits(paths: list[str]) -> list[Batch]:
    chosen = random.Random(1)  # noqa: S311 - which groups commit does not matter
    zxid = 1
    made = []
    for _ in range(int(FLUSH_S)):
        changed = {}
        for path in chosen.choices(paths, k=COMMITS_A_SECOND):
            zxid += 1
            changed[path] = _offset(zxid)
        made.append(Batch(changed, zxid))
    return made


def _offset(zxid: int) -> Znode:
    data = b"%d" % zxid
    return Znode.of(data, Stat(1, zxid, 1, zxid, zxid, 0, 0, 0, len(data), 0, 1))
