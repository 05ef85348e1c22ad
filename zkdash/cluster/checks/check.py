"""What a check is."""

from __future__ import annotations

import enum
from collections.abc import Callable

import msgspec

from zkdash.cluster.analysis.takeovers import Histories
from zkdash.cluster.checks.assignment_audit import EMPTY, AssignmentAudit
from zkdash.cluster.checks.facts import Facts
from zkdash.cluster.checks.offers import Offering
from zkdash.cluster.checks.thresholds import Thresholds
from zkdash.cluster.evaluation.evaluator import OfGroup, OfTopic
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.violations import NOBODY, Violations


class About(enum.Enum):
    """What the names of a check's causes are."""

    TOPIC = "topic"
    GROUP = "group"
    BROKER = "broker"
    ZNODE = "znode"
    CLUSTER = "cluster"


class CheckContext(msgspec.Struct, frozen=True):
    """All that a check may look at: the state, what is known beside it, and what counts as too long.

    `elections` are the epoch seconds at which a controller was seen to be elected lately, `survey` tells of
    groups what their plans say. `now` is the epoch second of the look, for checks that would have to count
    everything to say since when something holds. `registrations` are those of brokers that were seen.
    """

    state: ClusterState
    facts: Facts = Facts()
    thresholds: Thresholds = Thresholds()
    elections: tuple[float, ...] = ()
    survey: AssignmentAudit = EMPTY
    now: float = 0.0
    registrations: Histories = {}


class Silence(msgspec.Struct, frozen=True):
    """Why a check says nothing: it is not for such a cluster, or (`is_unknown`) what it goes by is not known.

    `why` is a sentence without its full stop.
    """

    why: str
    is_unknown: bool = False


NO_GROUPS = Silence("No group keeps its state in ZooKeeper")


class Check(msgspec.Struct, frozen=True):
    """One check of the catalogue.

    `causes` says what fails it, from what the state keeps (it is asked at every batch, and each second
    unless `every` says how many seconds may pass): nothing is a pass; or why it says nothing. What is asked
    of one topic or one group at a time, as it changes, is `of_topic` or `of_group`; `causes` reads what is
    kept of that (`violations_of`). `of_assignments` tells that it goes by nothing but which topics there are,
    their assignments and marks of deletion.

    `hold` names the one of `Thresholds` for whose seconds each cause must hold for itself, unless it says
    that it is one at once. `worsens` names the one after whose seconds an INFO becomes a WARNING, "" for
    never.
    `limits` names all others that it goes by, beside `confirm`.

    `failing` words a finding by (count, number of causes), `passing` is the sentence of a pass. `severity` is
    that of a cause which has none of its own; `status` are the words of a topic that it names, where the
    topic's own status cannot tell. `computed` says in words how it is found out, with its
    source, `remedy` what to do. `page` and `query` name the table that lists what was counted, "" where
    the check's own page does. `deeds` are the kinds of actions that mend it, none where none does, and
    `offer` which of them is offered for causes, filled in how (without it the first, as it is). `sums` names
    the number of topics that it only adds up, "" where it does not.
    """

    id: str
    severity: Severity
    about: About
    causes: Callable[[CheckContext], Violations | Silence]
    failing: Callable[[int, int], str]
    passing: str
    computed: str
    remedy: str
    page: str = ""
    query: str = ""
    deeds: tuple[str, ...] = ()
    offer: Offering | None = None
    limits: tuple[str, ...] = ()
    sums: str = ""
    status: str = ""
    hold: str = "confirm"
    worsens: str = ""
    every: float = 0.0
    of_assignments: bool = False
    of_topic: OfTopic | None = None
    of_group: OfGroup | None = None

    @property
    def thresholds(self) -> tuple[str, ...]:
        """The names of all of `Thresholds` that it goes by, beside `confirm`."""
        times = (name for name in (self.hold, self.worsens) if name not in ("", "confirm", *self.limits))
        return (*self.limits, *times)

    def holds_for(self, thresholds: Thresholds) -> float:
        """For how many seconds a cause must hold."""
        return float(getattr(thresholds, self.hold))

    def worsens_after(self, thresholds: Thresholds) -> float | None:
        """After how many seconds an INFO becomes a WARNING, None for never."""
        return float(getattr(thresholds, self.worsens)) if self.worsens else None


def violations_of(check: str) -> Callable[[CheckContext], Violations]:
    """The causes that the judges keep in the state under a check's id."""
    return lambda sight: sight.state.blames.get(check, NOBODY)


def violations_of_groups(check: str) -> Callable[[CheckContext], Violations | Silence]:
    """As `violations_of`, where there is any group at all."""
    kept = violations_of(check)

    def causes(sight: CheckContext) -> Violations | Silence:
        return kept(sight) if sight.state.groups else NO_GROUPS

    return causes


def number(count: int, single: str, many: str) -> str:
    """`1 partition has`, `2 partitions have`; a narrow space sets thousands apart."""
    return f"{count:,} {single if count == 1 else many}".replace(",", "\u202f")


def in_groups(count: int, groups: int, single: str, many: str) -> str:
    """`2 owners in 1 group`."""
    return f"{number(count, single, many)} in {number(groups, 'group', 'groups')}"
