"""What an incident is: a cause with what followed from it, as changes told of them."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import immutables
import msgspec

from zkdash.cluster.changes import Change

# What is kept at most; docs/incidents.md tells of these.
MOST_OPEN = 200
MOST_ENDED = 50
MOST_ROWS = 250  # of one incident, its first ones; `changes` counts all
MOST_SINGLES = 50
MOST_CLAIMS = 2_000  # of one incident: partitions whose owner before it is remembered
MOST_TOPICS = 5_000  # of one incident: topics by which replicas out of sync are told apart
MOST_NAMES = 5  # of consumers


class Kind(enum.Enum):
    """What began it."""

    BROKER = "broker"  # its session ended
    ROLLING = "rolling restart"
    ISR = "out of sync"  # replicas of a broker that is registered
    LEADERS = "leaders moved"  # from a broker that is registered
    CONTROLLER = "controller"
    REASSIGNMENT = "reassignment"
    ELECTION = "preferred leader election"
    DELETION = "deletion"
    REBALANCE = "rebalance"
    CONFIG = "config"


class Outage(msgspec.Struct, frozen=True):
    """One broker's time away: epoch ms, `back` None while it is not registered. `session` is the one that
    ended, `since` when it had registered; None where that is not known."""

    broker: int
    gone: int
    back: int | None = None
    session: int | None = None
    since: int | None = None


class Owners(msgspec.Struct, frozen=True):
    """What a group's partitions went through: how often one lost its owner, how often one got one, and when
    the group was heard of last."""

    lost: int = 0
    claimed: int = 0
    last: int = 0


class Effects(msgspec.Struct, frozen=True):
    """What followed, each a count over the changes that belong to the incident.

    `leaders_moved` counts leaders that moved away from what failed, by the broker that leads now in
    `moved_to`; `leaders_back` those that moved to it. `offline` counts partitions that lost their leader and
    found none, `led_again` those that have one again. `left_isr` counts replicas that left an ISR,
    `back_in_isr` those that came back, `most_out` the most that were out at once. `owners` is by group;
    `joined` and `left` count consumers, `members` names the first of them. `partitions` are those that moved,
    were to be elected or were deleted, None where that is not known. `controller` is the broker that became
    the controller.
    """

    leaders_moved: int = 0
    moved_to: Mapping[int, int] = {}
    leaders_back: int = 0
    offline: int = 0
    led_again: int = 0
    left_isr: int = 0
    back_in_isr: int = 0
    most_out: int = 0
    owners: Mapping[str, Owners] = {}
    joined: int = 0
    left: int = 0
    members: tuple[str, ...] = ()
    partitions: int | None = None
    controller: int | None = None


class Incident(msgspec.Struct, frozen=True):
    """One cause with its effects. Instants are epoch ms.

    `id` grows with each incident of one folding. `subject` is the broker, topic or group, "" where the kind
    says all. `began` is its first change's time, of a broker the end of its session: `prelude` is when what
    belongs to it was first heard of, None where that was nothing before. `last` is its last change's time;
    `ended` is None while it is open.
    `outages` are those of brokers, in order. `zxid` is the first that is known of its changes. `changes`
    counts these, `rows` holds the first of them, oldest first. `reason` says why a group rebalanced.

    `out` counts replicas of its own brokers that are out of sync, whichever incident explains it, by broker
    and topic, "" for those beyond what is kept apart. `offline` counts by topic, "" likewise, the partitions
    among its effects that have no leader, `deleted` those that had none when their topic was deleted.
    `first` holds whose each partition was before the incident, `now` whose it is. `moving` counts partitions
    on their way, `missing` is the sum of `out`.
    """

    id: int
    kind: Kind
    subject: str
    began: int
    last: int
    ended: int | None = None
    outages: tuple[Outage, ...] = ()
    effects: Effects = Effects()
    zxid: int | None = None
    changes: int = 0
    rows: tuple[Change, ...] = ()
    reason: str = ""
    out: immutables.Map[tuple[int, str], int] = immutables.Map()
    first: immutables.Map[str, str | None] = immutables.Map()
    now: immutables.Map[str, str | None] = immutables.Map()
    moving: int = 0
    missing: int = 0
    offline: immutables.Map[str, int] = immutables.Map()
    deleted: int = 0
    prelude: int | None = None

    @property
    def brokers(self) -> tuple[int, ...]:
        """The brokers whose sessions ended, in order."""
        return tuple(outage.broker for outage in self.outages)

    @property
    def at(self) -> int:
        """By which it is told and listed (epoch ms): when the broker that is gone went, else `began`."""
        return self.away[-1].gone if self.away else self.began

    @property
    def heard(self) -> int:
        """The time of its first change, its prelude's if it has one."""
        return self.began if self.prelude is None else min(self.prelude, self.began)

    @property
    def is_out(self) -> bool:
        """Whether replicas are out of sync, or partitions offline, as far as changes tell."""
        return self.missing > 0 or self.leaderless > 0

    @property
    def leaderless(self) -> int:
        """How many partitions that it took offline have no leader yet, and are of topics that stay."""
        return max(self.effects.offline - self.effects.led_again - self.deleted, 0)

    @property
    def away(self) -> tuple[Outage, ...]:
        """Those that have not registered again."""
        return tuple(outage for outage in self.outages if outage.back is None)

    @property
    def moved(self) -> int | None:
        """How many partitions of groups have another owner than before; None where owners were not seen."""
        if not self.now:
            return None
        return sum(owner is not None and owner != self.first[part] for part, owner in self.now.items())


class Incidents(msgspec.Struct, frozen=True):
    """What changes were folded into so far: what is open and what ended, oldest first, and the changes that
    belong to no incident. `clock` is the time of the last change (epoch ms), `next` the next incident's id,
    `epoch_of` the incident to which the last change of the controller belongs."""

    open: tuple[Incident, ...] = ()
    ended: tuple[Incident, ...] = ()
    singles: tuple[Change, ...] = ()
    clock: int = 0
    next: int = 1
    epoch_of: int = 0

    @property
    def newest(self) -> tuple[Incident, ...]:
        """All of them, by `at`, the newest first."""
        return tuple(
            sorted((*self.open, *self.ended), key=lambda incident: (incident.at, incident.id), reverse=True)
        )
