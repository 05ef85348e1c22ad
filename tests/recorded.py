"""The recorded trees: what real clusters of Kafka 0.7.2, 0.8.2.2, 1.1.1 and 3.9.1 kept in ZooKeeper.

Each file of `tests/fixtures/znodes` is one tree, recorded from a running cluster in the state that its name
tells: {name, taken_ms, znodes: {path: {text or data: null, stat, acl, children}}}, where `/` is the cluster's
chroot. The tree `hostile` is made by hand (`tests/fixtures/hostile.py`). All of them fit into one snapshot
file, each under a chroot of its name, from which a real ZooKeeper starts.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests import full
from tests.fixtures import hostile
from tests.lab import snapshot
from zkdash.znode import Stat, Znode

_DIRECTORY = Path(__file__).parent / "fixtures" / "znodes"

HOSTILE = "hostile"
RECORDED = tuple(sorted(path.stem for path in _DIRECTORY.glob("*.json")))
TREES = (*RECORDED, HOSTILE)
# Of each release the fewest that show every form of znode and every finding that any of its trees does.
REPRESENTATIVE = (
    "0.7.2-consumers",
    "0.8.2.2-brokers2and3-killed",
    "0.8.2.2-consumers-gone",
    "0.8.2.2-hand-reassign-invalid-json",
    "0.8.2.2-x-end",
    "0.8.2.2-x-hand-reassign-inprogress",
    "1.1.1-brokers2and3-killed",
    "1.1.1-consumers-after-loss",
    "1.1.1-reassign-done",
    "1.1.1-hand-reassign-invalid-json",
    "1.1.1-hand-reassign-unknown-broker",
    "1.1.1-x-end",
    "3.9.1-brokers2and3-killed",
    "3.9.1-hand-made",
    "3.9.1-hand-reassign-invalid-json",
    "3.9.1-hand-reassign-unknown-broker",
    "3.9.1-x-end",
)
# Those that this run tries where each tree costs many pages.
TRIED = full.pick((*REPRESENTATIVE, HOSTILE), TREES)

# Long enough for any test run: the sessions' owners are gone for good.
_TIMEOUT_MS = 3_600_000

# The recorded stat's names, in the order of Stat's fields.
_STAT = (
    "czxid",
    "mzxid",
    "ctime",
    "mtime",
    "version",
    "cversion",
    "aversion",
    "ephemeralOwner",
    "dataLength",
    "numChildren",
    "pzxid",
)


class Counts(NamedTuple):
    """What a tree holds, counted from its raw JSON without any code of the house.

    `partitions` are those assigned (0.8+) or counted by their brokers (0.7).
    """

    brokers: int
    topics: int
    partitions: int
    groups: int
    members: int
    owners: int
    offsets: int


def load(name: str) -> dict[str, Znode]:
    """The znodes of a tree by path under its chroot, parents first; "/" is the chroot itself."""
    return hostile.tree() if name == HOSTILE else _load(name)


def raw(name: str) -> dict[str, Any]:
    """A recorded tree's znodes as the file holds them."""
    znodes: dict[str, Any] = json.loads((_DIRECTORY / f"{name}.json").read_text())["znodes"]
    return znodes


def taken_ms(name: str) -> int:
    """When a recorded tree was taken, in epoch milliseconds."""
    taken: int = json.loads((_DIRECTORY / f"{name}.json").read_text())["taken_ms"]
    return taken


def children(tree: Iterable[str]) -> dict[str, list[str]]:
    """The names of the children of every path of a tree, sorted."""
    below: dict[str, list[str]] = {path: [] for path in tree}
    for path in sorted(below):
        if path != "/":
            parent, _, name = path.rpartition("/")
            below[parent or "/"].append(name)
    return below


def sessions(tree: Mapping[str, Znode]) -> dict[int, int]:
    """The sessions that own the ephemerals of a tree, with the timeout that a snapshot gives them (ms)."""
    owners = (znode.ephemeral_owner for znode in tree.values())
    return {owner: _TIMEOUT_MS for owner in owners if owner}


def write_snapshot(data_dir: Path, names: Iterable[str] = TREES) -> Path:
    """One snapshot with each tree under the chroot `/<its name>`, for a server on `data_dir` to start from.

    Sessions are the snapshot's, not a tree's: where two trees know the same id it is one session that owns
    the ephemerals of both.
    """
    trees = {name: load(name) for name in names}
    znodes = [("/", _root(trees))]
    for name, tree in trees.items():
        znodes += [(f"/{name}" if path == "/" else f"/{name}{path}", znode) for path, znode in tree.items()]
    owners = {owner: limit for tree in trees.values() for owner, limit in sessions(tree).items()}
    return snapshot.write(data_dir / "version-2", znodes, owners)


def count(name: str) -> Counts:
    """The counts of a recorded tree, straight from its file."""
    tree = raw(name)
    text = {path: znode.get("text") or "" for path, znode in tree.items()}

    def paths(pattern: str) -> list[str]:
        return [path for path in tree if re.fullmatch(pattern, path)]

    assigned = [json.loads(text[path] or '{"partitions": []}') for path in paths("/brokers/topics/[^/]+")]
    return Counts(
        brokers=len(paths("/brokers/ids/[^/]+")),
        topics=len(paths("/brokers/topics/[^/]+")),
        partitions=sum(len(topic["partitions"]) for topic in assigned)
        + sum(int(text[path]) for path in paths(r"/brokers/topics/[^/]+/\d+")),
        groups=len(paths("/consumers/[^/]+")),
        members=len(paths("/consumers/[^/]+/ids/[^/]+")),
        owners=len(paths("/consumers/[^/]+/owners/[^/]+/[^/]+")),
        offsets=len(paths("/consumers/[^/]+/offsets/[^/]+/[^/]+")),
    )


def loads(name: str) -> dict[int, tuple[int, int, int, int, int]]:
    """What each broker carries, straight from the tree's file: the partitions that it leads, those assigned
    to it, those that prefer it and have a state, those of them that it does not lead, and what 0.7 says.

    Of a topic that is being deleted, and of a partition that moves, nobody asks who should lead.
    """
    tree = raw(name)
    found: dict[int, list[int]] = {}
    moving = _moving(tree)
    for path, znode in tree.items():
        pieces = path.split("/")
        if pieces[:3] != ["", "brokers", "topics"]:
            continue
        text = znode.get("text") or ""
        if len(pieces) == 4 and text:
            deleted = f"/admin/delete_topics/{pieces[3]}" in tree
            topic = json.loads(text)
            changed = {*topic.get("adding_replicas", {}), *topic.get("removing_replicas", {})}
            for partition, replicas in topic["partitions"].items():
                judged = not deleted and partition not in changed and (pieces[3], partition) not in moving
                state = tree.get(f"{path}/partitions/{partition}/state")
                leader = json.loads(state["text"])["leader"] if state else None
                for broker in replicas:
                    found.setdefault(broker, [0] * 5)[1] += 1
                if leader is not None and leader >= 0:
                    found.setdefault(leader, [0] * 5)[0] += 1
                if leader is not None and judged:
                    found[replicas[0]][2] += 1
                    found[replicas[0]][3] += leader != replicas[0]
        elif len(pieces) == 5 and pieces[4].isdecimal():
            found.setdefault(int(pieces[4]), [0] * 5)[4] += int(text)
    return {broker: tuple(counts) for broker, counts in found.items()}  # type: ignore[misc]


def _moving(tree: Mapping[str, Any]) -> set[tuple[str, str]]:
    """The partitions that /admin/reassign_partitions names; none where it is no JSON."""
    text = (tree.get("/admin/reassign_partitions") or {}).get("text") or "{}"
    try:
        asked = json.loads(text).get("partitions", [])
    except ValueError:
        return set()
    return {(one["topic"], str(one["partition"])) for one in asked}


@functools.cache
def _load(name: str) -> dict[str, Znode]:
    found = raw(name)
    return {path: _znode(found[path]) for path in sorted(found)}


def _znode(found: Mapping[str, Any]) -> Znode:
    text = found.get("text")
    stat = Stat(*(found["stat"][field] for field in _STAT))
    return Znode.of(None if text is None else text.encode(), stat)


def _root(trees: Mapping[str, Mapping[str, Znode]]) -> Znode:
    newest = max(itertools.chain.from_iterable(_zxids(tree) for tree in trees.values()), default=0)
    return Znode.of(None, Stat(0, 0, 0, 0, 0, len(trees), 0, 0, 0, len(trees), newest))


def _zxids(tree: Mapping[str, Znode]) -> Iterable[int]:
    return (znode.czxid for znode in tree.values())
