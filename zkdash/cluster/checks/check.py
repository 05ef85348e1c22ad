"""What a check is."""

from __future__ import annotations

import enum
from collections.abc import Callable

import msgspec

from zkdash.cluster.checks.assignment_audit import EMPTY, AssignmentAudit
from zkdash.cluster.checks.facts import Facts
from zkdash.cluster.checks.offers import Offering
from zkdash.cluster.checks.thresholds import Thresholds
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.tone import Tone
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
    everything to say since when something holds.
    """

    state: ClusterState
    facts: Facts = Facts()
    thresholds: Thresholds = Thresholds()
    elections: tuple[float, ...] = ()
    survey: AssignmentAudit = EMPTY
    now: float = 0.0


class Check(msgspec.Struct, frozen=True):
    """One check of the catalogue.

    `causes` says what fails it, from what the state keeps (it is asked at every batch, and each second
    unless `every` says how many seconds may pass): nothing is a pass, None that the check has nothing to
    say of such a cluster, or cannot know. Each cause must hold for itself for `hold` seconds, unless it says
    that it is one at once. `failing`
    words a finding by (count, number of causes), `passing` is the sentence of a pass. `tone` is the
    severity, where a cause has none of its own. `computed` says in words how it is found out, with its
    source, `remedy` what to do. `page` and `query` name the table that lists what was counted, "" where
    the check's own page does. After `worsens` seconds an INFO becomes a WARNING. `deeds` are the kinds of
    actions that mend it, none where none does, and `offer` which of them is offered for causes, filled in how
    (without it the first, as it is); `thresholds` names those of `Thresholds` that it goes by, beside
    `confirm`.
    """

    id: str
    tone: Tone
    about: About
    causes: Callable[[CheckContext], Violations | None]
    failing: Callable[[int, int], str]
    passing: str
    computed: str
    remedy: str
    page: str = ""
    query: str = ""
    deeds: tuple[str, ...] = ()
    offer: Offering | None = None
    thresholds: tuple[str, ...] = ()
    hold: Callable[[Thresholds], float] = lambda thresholds: thresholds.confirm
    worsens: Callable[[Thresholds], float] | None = None
    every: float = 0.0


def violations_of(check: str) -> Callable[[CheckContext], Violations]:
    """The causes that the judges keep in the state under a check's id."""
    return lambda sight: sight.state.blames.get(check, NOBODY)


def number(count: int, one: str, many: str) -> str:
    """`1 partition has`, `2 partitions have`; a narrow space sets thousands apart."""
    return f"{count:,} {one if count == 1 else many}".replace(",", "\u202f")
