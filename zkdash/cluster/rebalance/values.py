"""What is expected of a group, as values."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.kafka.assignment.assignment_context import AssignmentContext, PartitionAssignment
from zkdash.kafka.assignment.rules import Rule


class Verdict(enum.Enum):
    """How a partition's owner compares with the plan; the value is the words for it.

    STRAY is an owner of a partition that no member subscribes to or that does not exist (D43).
    """

    EXPECTED = "as expected"
    OTHER_MEMBER = "owned by another member"
    NOT_REGISTERED = "owner not registered"
    UNOWNED = "unowned"
    STRAY = "stray owner"
    UNDETERMINED = "undetermined"

    @property
    def severity(self) -> Severity:
        """The severity once the group has had time to settle."""
        return _SEVERITIES[self]


_SEVERITIES = {
    Verdict.EXPECTED: Severity.OK,
    Verdict.OTHER_MEMBER: Severity.WARNING,
    Verdict.NOT_REGISTERED: Severity.WARNING,
    Verdict.UNOWNED: Severity.CRITICAL,
    Verdict.STRAY: Severity.INFO,
    Verdict.UNDETERMINED: Severity.UNKNOWN,
}


class AssignmentInputs(msgspec.Struct, frozen=True):
    """What a group's assignment is computed from, as far as its registrations and topics are known.

    `blocked` says what breaks every member's rebalance (a registration that does not parse). `unclear`
    says what keeps the whole plan from being told: a wildcard that is not previewed, a registration that
    may not be read. `open_topics` says by topic why its partitions, or who wants it, cannot be told.
    """

    demand: AssignmentContext
    blocked: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    open_topics: Mapping[str, str] = {}
    assumptions: tuple[str, ...] = ()
    is_07: bool = False

    @property
    def is_clear(self) -> bool:
        """Whether there is a plan to tell."""
        return not (self.blocked or self.unclear)


class Part(msgspec.Struct, frozen=True):
    """One partition of a group: `owner` and `expected` are thread ids, `member` is the owner's consumer id.

    `reason` says more where the verdict needs it.
    """

    topic: str
    key: str
    owner: str | None
    member: str | None
    expected: str | None
    verdict: Verdict
    reason: str | None = None


class Expectation(msgspec.Struct, frozen=True):
    """What is expected of a group and what it does.

    `plans` holds what each rule that was tried makes of the group, `rule` the first of Kafka's rules (then
    of the documents') that the owners follow, None where none does, `matching` all of them. Verdicts are
    against `against`: `rule`, or the rule that most owners follow. `followed` tells by member which rules
    its own partitions follow, where the group as a whole follows none (mixed strategies, D41).
    `may_differ` says why members of different releases may compute different plans. `idle` are threads
    that the plan gives nothing. `changed` is the newest registration or owner in epoch milliseconds;
    `rebalancing` is True within 8 s of it. `partial` says what of a group is missing, and why.
    """

    group: str
    inputs: AssignmentInputs
    plans: Mapping[Rule, PartitionAssignment]
    rule: Rule | None
    matching: tuple[Rule, ...]
    against: Rule
    parts: tuple[Part, ...]
    idle: tuple[str, ...]
    followed: Mapping[str, tuple[Rule, ...]]
    may_differ: tuple[str, ...]
    changed: int | None
    rebalancing: bool
    partial: str | None

    @property
    def plan(self) -> PartitionAssignment:
        """The plan that verdicts are against."""
        return self.plans.get(self.against, _NO_PLAN)


_NO_PLAN = PartitionAssignment({})
