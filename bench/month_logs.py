"""The transaction logs of a day that follows a month: what its cluster holds, then a day of changes to that.

Made by hand, since a real server writes no other time than now.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from bench import tree
from bench.sizes import Shape
from tests.formats import logs
from zkdash.formats.txnlog import rows
from zkdash.formats.txnlog.rows import Row
from zkdash.time_units import DAY_MS, HOUR_MS

_EACH: Final = 200_000  # transactions a log
_ACL: Final = "world:anyone:31"
_TIMEOUT_MS: Final = 18_000
_STATES: Final = 20  # every so many-th change is one of a partition's state, the others are commits


def write_tree(directory: Path, shape: Shape, after: int, begins: int) -> int:
    """A day (from `begins`, epoch ms) in which sessions come and make the tree of this shape.

    Its last hour is quiet but for a commit at the end, so that no rebalance goes on. The transactions follow
    `after`; the last one is returned.
    """
    nodes = list(tree.tree(**shape._asdict()))
    owners = sorted({znode.ephemeral_owner for _, znode in nodes} - {0})
    zxids = itertools.count(after + 1)

    def made() -> Iterator[Row]:
        for owner in owners:
            yield _row(rows.CREATE_SESSION, next(zxids), begins, session=owner, timeout_ms=_TIMEOUT_MS)
        for number, (path, znode) in enumerate(nodes):
            time = begins + number * (DAY_MS - HOUR_MS) // len(nodes)
            owner = znode.ephemeral_owner
            of: dict[str, Any] = {
                "session": owner or tree.SESSION,
                "ephemeral": bool(owner),
                "data": znode.data,
            }
            yield _row(rows.CREATE, next(zxids), time, path=path, acl=_ACL, parent_cversion=1, **of)
        yield _row(rows.SET_DATA, next(zxids), begins + DAY_MS - 1, path=nodes[-1][0], data=b"1", version=1)

    _write(directory, made())
    return after + len(owners) + len(nodes) + 1


def write_day(directory: Path, shape: Shape, changes: int, after: int, begins: int) -> None:
    """A day of commits of every group in turn, and of leaders that move, in a tree that was there before."""
    paths = [path for path, _ in tree.tree(**shape._asdict())]
    states = [path for path in paths if path.endswith("/state")]
    offsets = [path for path in paths if "/offsets/" in path and path.count("/") == 5]

    def made() -> Iterator[Row]:
        for number in range(changes):
            time = begins + number * DAY_MS // changes
            moves, is_commit = divmod(number, _STATES)
            if is_commit:
                path, data = offsets[(number - moves) % len(offsets)], str(number).encode()
            else:
                path, data = _moved(states, moves)
            zxid = after + 1 + number
            yield _row(rows.SET_DATA, zxid, time, path=path, data=data, version=number)

    _write(directory, made())


def _moved(states: list[str], number: int) -> tuple[str, bytes]:
    """A state whose leader is another of its replicas; of every tenth the leader alone is in sync."""
    place = number * 7 % len(states)
    _, _, _, topic, _, partition, _ = states[place].split("/")
    ids = tree.replicas(int(topic.rpartition("-")[2]), int(partition))
    leader = ids[(1 + number // len(states)) % len(ids)]
    isr = ids if number % 10 else [leader]
    return states[place], tree.state(leader, isr, leader_epoch=number + 10)


def _row(kind: int, zxid: int, time: int, session: int = tree.SESSION, **fields: Any) -> Row:
    return Row(session, 0, zxid, time, 0, kind, **fields)


def _write(directory: Path, made: Iterable[Row]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    left = iter(made)
    while some := list(itertools.islice(left, _EACH)):
        path = directory / f"log.{some[0].zxid:x}"
        path.write_bytes(logs.log(logs.transaction([row]) for row in some))
