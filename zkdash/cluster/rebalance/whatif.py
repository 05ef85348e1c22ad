"""What would move if a group or a topic changed: the plan before, the plan after.

The changes are made on the demand (kafka.assignment.demand: add_member, remove_member, set_threads, grow).
"""

from __future__ import annotations

import msgspec

from zkdash.kafka.assignment import rules
from zkdash.kafka.assignment.demand import Demand, Plan
from zkdash.kafka.assignment.rules import Rule
from zkdash.kafka.consumers import ids as consumer_ids


class Shift(msgspec.Struct, frozen=True):
    """One partition whose owner changes; None where it has none, or none that can be told."""

    topic: str
    key: str
    before: str | None
    after: str | None

    @property
    def is_new(self) -> bool:
        """Whether the partition had no owner before: it is new, or was left over."""
        return self.before is None

    @property
    def changes_member(self) -> bool:
        """Whether it goes to another member, not only to another thread of the same."""
        return _member(self.before) != _member(self.after)


class WhatIf(msgspec.Struct, frozen=True):
    """Two plans of one rule. `shifts` are the partitions whose owner differs, by topic and key."""

    rule: Rule
    before: Plan
    after: Plan
    shifts: tuple[Shift, ...]

    @property
    def moved(self) -> int:
        """How many partitions that had an owner change it."""
        return sum(not shift.is_new for shift in self.shifts)

    @property
    def moved_between_members(self) -> int:
        """How many of those go to another member."""
        return sum(not shift.is_new and shift.changes_member for shift in self.shifts)


def ask(before: Demand, after: Demand, rule: Rule) -> WhatIf:
    """What a change of the demand does to a group whose members all follow `rule`."""
    old, new = rules.plan(rule, before), rules.plan(rule, after)
    pairs = (
        Shift(topic, key, old.owner(topic, key), new.owner(topic, key))
        for topic in sorted(old.owners.keys() | new.owners.keys())
        for key in dict.fromkeys((*old.owners.get(topic, {}), *new.owners.get(topic, {})))
    )
    return WhatIf(rule, old, new, tuple(pair for pair in pairs if pair.before != pair.after))


def _member(thread: str | None) -> str | None:
    return None if thread is None else consumer_ids.parse_thread(thread).consumer
