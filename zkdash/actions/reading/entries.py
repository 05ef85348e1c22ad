"""Actions as pages see them: plain frozen values, none of the database's own."""

from __future__ import annotations

import msgspec

from zkdash.actions.states import State, StepState
from zkdash.cluster.plans.values import Plan

WAITING = frozenset({State.PENDING, State.QUEUED})
IN_FLIGHT = WAITING | {State.RUNNING, State.VERIFYING, State.UNKNOWN}

# How many of a cluster's other actions (ended, or dry runs) stay at hand.
KEPT = 200


class UnavailableError(Exception):
    """The database cannot be read; the message is a sentence for the page."""


class Entry(msgspec.Struct, frozen=True):
    """One action in short. Instants are epoch milliseconds, None for what has not happened.

    `revision` grows with every change of it. `step` counts the steps that are over, of `steps`; `done` of
    `total` tells how far the goal of the one under way is, `doing` what that one does. `result` is a sentence
    about how it ended or what it waits for. `zxids` are the transactions that its steps wrote.
    """

    id: int
    revision: int
    cluster: str
    kind: str
    target: str
    state: State
    by: str
    requested: int
    user_id: int | None = None
    source: str = "web"
    reason: str = ""
    needs_approval: bool = False
    approved_by: str = ""
    approved: int | None = None
    queued: int | None = None
    not_before: int | None = None
    repeat_s: int | None = None
    stop_wanted: bool = False
    pause_wanted: bool = False
    started: int | None = None
    ended: int | None = None
    result: str = ""
    step: int = 0
    steps: int = 0
    done: int = 0
    total: int = 0
    doing: str = ""
    zxids: tuple[int, ...] = ()

    @property
    def is_in_flight(self) -> bool:
        """Whether it waits or works: neither a dry run, nor ended."""
        return self.state in IN_FLIGHT

    @property
    def took_ms(self) -> int | None:
        """From its start to its end; None where it has not had both."""
        return None if self.started is None or self.ended is None else self.ended - self.started


class StepEntry(msgspec.Struct, frozen=True):
    """One step of an action: `zxid` is the transaction that applied it."""

    number: int
    title: str
    state: StepState
    intended: int | None = None
    applied: int | None = None
    verified: int | None = None
    zxid: int | None = None
    done: int = 0
    total: int = 0
    sentence: str = ""


class AuditEntry(msgspec.Struct, frozen=True):
    """One line of the audit. `before` and `after` are SHA-256 of a znode's data in hex, "" for none.

    `detail` is JSON, `hash` that of the line in hex.
    """

    id: int
    at: int
    who: str
    event: str
    cluster: str = ""
    action: int | None = None
    step: int | None = None
    path: str = ""
    before: str = ""
    after: str = ""
    zxid: int | None = None
    detail: str = ""
    hash: str = ""


class Author(msgspec.Struct, frozen=True):
    """Who proposed or changed a plan: name, and Django's user id (None for a process or a deleted user)."""

    name: str
    user_id: int | None = None


class Detail(msgspec.Struct, frozen=True):
    """All of one action: `audit` is the newest of its lines, newest first, `more_audit` counts the others.

    `plan` is None where there is none yet, or where it cannot be read. `origin` is the action that it follows
    from (what it undoes or repeats), `followers` those that follow from it. `authors` had a hand in its plan.
    """

    entry: Entry
    steps: tuple[StepEntry, ...] = ()
    audit: tuple[AuditEntry, ...] = ()
    more_audit: int = 0
    plan: Plan | None = None
    origin: int | None = None
    followers: tuple[int, ...] = ()
    authors: tuple[Author, ...] = ()


class News(msgspec.Struct, frozen=True):
    """What changed in the queue: `revision` is the last one that `entries` hold."""

    revision: int
    entries: tuple[Entry, ...] = ()
