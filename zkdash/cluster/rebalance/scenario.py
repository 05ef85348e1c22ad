"""What could be otherwise with a group: other members, other threads, a topic with more partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from zkdash.kafka.assignment import demand
from zkdash.kafka.assignment.demand import Demand, Plan
from zkdash.kafka.consumers import ids as consumer_ids

MOST_MEMBERS = 50
MOST_THREADS = 200
MOST_PARTITIONS = 5_000
# Threads by topic of all members: what one page may compute.
MOST_CLAIMS = 100_000
HOST = "new-host"
# Later than any consumer's start, so that new members of a host come after the others there.
_STARTED = 9_999_999_999_999


class Scenario(msgspec.Struct, frozen=True):
    """`add` members on `host`, each asking for what the group's first member asks; `remove` these members.

    Every member has `threads` for each topic (0: as it has), `topic` has `partitions` (0.7: on each broker).
    """

    add: int = 0
    host: str = HOST
    remove: tuple[str, ...] = ()
    threads: int = 0
    topic: str = ""
    partitions: int = 0

    @property
    def is_nothing(self) -> bool:
        return not (self.add or self.remove or self.threads or (self.topic and self.partitions))


def apply(scenario: Scenario, group: str, before: Demand) -> Demand | str:
    """The demand as it would be, or a sentence why it is not computed."""
    after = before
    for member in scenario.remove:
        after = demand.remove_member(after, member)
    pattern = before.members[min(before.members)] if before.members else None
    if scenario.add and pattern is None:
        return "The group has no member that a new one could be like."
    for number in range(scenario.add):
        after = demand.add_member(after, new_member(group, scenario.host, number), pattern or {})
    for member in after.members if scenario.threads else ():
        after = demand.set_threads(after, member, scenario.threads)
    if scenario.topic and scenario.partitions:
        after = demand.grow(after, scenario.topic, scenario.partitions)
    if sum(sum(topics.values()) for topics in after.members.values()) > MOST_CLAIMS:
        return f"That is more than {MOST_CLAIMS} threads by topic, which is not computed here."
    return after


def new_member(group: str, host: str, number: int) -> str:
    """The id of a member that is only thought of, as Kafka would make it."""
    return f"{group}_{host}-{_STARTED}-{number:08x}"


def loads(plan: Plan) -> Mapping[str, int]:
    """How many partitions the plan gives to each member."""
    threads = (thread for keys in plan.owners.values() for thread in keys.values() if thread is not None)
    return Counter(consumer_ids.parse_thread(thread).consumer or thread for thread in threads)
