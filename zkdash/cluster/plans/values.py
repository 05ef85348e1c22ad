"""A plan and what it stands on: frozen, and plain enough to be stored as JSON (bytes become base64)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans.goals import Goal
from zkdash.cluster.plans.intents import Intent
from zkdash.kafka import secrets
from zkdash.znode import Operation, Unreadable, Znode

# jute.maxbuffer of a ZooKeeper server that nobody configured, in bytes.
JUTE_MAXBUFFER = 1_048_575
# What one ZooKeeper multi may hold at most.
MOST_BYTES = 500_000
MOST_OPERATIONS = 1_000
# The executor's marker: one operation with a short path.
MARKER_BYTES = 1_000
# What an operation costs on the wire beside its path and data: header, lengths, an ACL.
_OVERHEAD = 64


class Edit(msgspec.Struct, frozen=True):
    """A change of a configuration whose full bytes must not be kept: keys to put, keys to drop.

    The executor reads the znode, compares its version, and writes `kafka.editing.merge_config` of it.
    """

    put: Mapping[str, str] = {}
    drop: tuple[str, ...] = ()


class Write(msgspec.Struct, frozen=True):
    """One operation of a multi.

    `expected` is the version that must be found, None where the znode must be absent (CREATE). `before` and
    `after` are the data, masked where the path is secret; None is null or no znode. `edit` is given where
    `after` is masked, and then is what counts. `sequential` creates a child with ZooKeeper's running number.
    `undo` is a sentence, empty where nothing has to be undone.
    """

    path: str
    operation: Operation
    expected: int | None = None
    before: bytes | None = None
    after: bytes | None = None
    sequential: bool = False
    edit: Edit | None = None
    undo: str = ""

    @property
    def size(self) -> int:
        """About how many bytes of a multi it takes, generously."""
        return len(self.path.encode()) + len(self.after or b"") + _OVERHEAD


class Step(msgspec.Struct, frozen=True):
    """One multi, all or nothing, and what to wait for before the next step begins."""

    title: str
    writes: tuple[Write, ...]
    goal: Goal

    @property
    def size(self) -> int:
        return sum(write.size for write in self.writes)


class Copied(msgspec.Struct, frozen=True):
    """Bytes that moves copy `to` each broker, as the leaders told when it was planned.

    Of `unknown` copies nobody told: `why` is a clause that tells it of the first.
    """

    to: Mapping[int, int] = {}
    unknown: int = 0
    why: str = ""


class Effect(msgspec.Struct, frozen=True):
    """A plan in numbers. `replicas_moved` are copies to be made, `replicas_removed` copies to be dropped.

    `leaders_moved` counts partitions whose preferred leader becomes another; `largest` is the longest data
    written into one znode, `written` the bytes of all steps, `znodes` those created, set or deleted.
    `read_again` and `skipped` are what lies between a group's offsets and those that it gets, over all
    partitions, in `unit`s (messages, in 0.7 bytes): at most, as compaction and retention leave gaps.
    `copied` is None where nobody asked.
    """

    topics: int = 0
    partitions: int = 0
    replicas_moved: int = 0
    replicas_removed: int = 0
    leaders_moved: int = 0
    znodes: int = 0
    written: int = 0
    largest: int = 0
    read_again: int = 0
    skipped: int = 0
    unit: str = "messages"
    copied: Copied | None = None


class Plan(msgspec.Struct, frozen=True):
    """What would be written. Where `refusals` has sentences, `steps` is empty and nothing may be done;
    `is_idle` tells that the only reason is that there is nothing to do.

    `kind` is the intent's tag; `target` names what it acts on. `inverse` is the intent that undoes the plan
    once it is done (to be planned then), None where nothing does. `confirm` is the text that an operator
    must type, None where a click is enough.
    """

    kind: str
    target: str
    steps: tuple[Step, ...] = ()
    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    effect: Effect = Effect()
    inverse: Intent | None = None
    confirm: str | None = None
    is_idle: bool = False


class Needs(msgspec.Struct, frozen=True):
    """What must be read beside the state: single znodes, and roots of which everything below is read too."""

    paths: tuple[str, ...] = ()
    subtrees: tuple[str, ...] = ()


class Ground(msgspec.Struct, frozen=True):
    """What a plan stands on: the state, what `Needs` asked for by path (what is missing is absent), and the
    servers' jute.maxbuffer."""

    state: ClusterState
    tree: Mapping[str, Znode | Unreadable] = {}
    jute_maxbuffer: int = JUTE_MAXBUFFER

    @property
    def largest(self) -> int:
        """How long a znode's data may become: 80 % of jute.maxbuffer, and no more than fits a multi."""
        return min(self.jute_maxbuffer * 8 // 10, MOST_BYTES - 2 * MARKER_BYTES)

    def below(self, root: str) -> tuple[str, ...]:
        """The paths of a subtree that was read, each before those below it, the root first."""
        return tuple(sorted(path for path in self.tree if path == root or path.startswith(root + "/")))


def create(path: str, data: bytes | None, undo: str = "") -> Write:
    return Write(path, Operation.CREATE, after=data, undo=undo)


def replace(path: str, znode: Znode, data: bytes, undo: str = "") -> Write:
    """Set a znode's data, compared by the version that was read."""
    return Write(path, Operation.SET, znode.version, secrets.redact(path, znode.data), data, undo=undo)


def remove(path: str, znode: Znode, undo: str = "") -> Write:
    return Write(path, Operation.DELETE, znode.version, secrets.redact(path, znode.data), undo=undo)


def check(path: str, version: int) -> Write:
    return Write(path, Operation.CHECK, version)
