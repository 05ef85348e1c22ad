"""Consumer groups that keep themselves in Kafka, as their coordinators describe them."""

from __future__ import annotations

from collections.abc import Container

import immutables
import msgspec

from zkdash.cluster.model import ranking
from zkdash.cluster.model.ranking import Entry
from zkdash.cluster.model.severity import Severity


class KafkaGroup(msgspec.Struct, frozen=True):
    """One group that a broker lists. `state` is Kafka's word, None where it is not known, for `reason`.

    `members` counts them, `topics` are those of its commits and of what its members were assigned, `assigned`
    counts the partitions of the latter; None where not all members' assignments are a consumer's.
    """

    name: str
    state: str | None
    reason: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: int | None = None
    topics: frozenset[str] = frozenset()
    assigned: int | None = None

    @property
    def severity(self) -> Severity:
        return Severity.UNKNOWN if self.state is None else _SEVERITIES.get(self.state, Severity.INFO)

    @property
    def troubled(self) -> int:
        """How many partitions are in trouble: of groups in Kafka nobody tells."""
        return 0

    @property
    def words(self) -> str:
        """The state in the words of statuses."""
        return "state unknown" if self.state is None else _WORDS.get(self.state, self.state)


class KafkaGroups(msgspec.Struct, frozen=True):
    """All groups that brokers list; `order` has those that ZooKeeper does not hold, by status, worst first,
    then by name."""

    groups: immutables.Map[str, KafkaGroup] = immutables.Map()
    order: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, groups: immutables.Map[str, KafkaGroup], in_zookeeper: Container[str] = ()) -> KafkaGroups:
        beside = (group for group in groups.values() if group.name not in in_zookeeper)
        return cls(groups, tuple(sorted((ranking.place(group), group.name) for group in beside)))


# Source: org.apache.kafka.common.GroupState (ConsumerGroupState before 4.0), and what brokers before 2.0 say.
_SEVERITIES = {"Stable": Severity.OK}
_WORDS = {
    "Stable": "stable",
    "Empty": "no members",
    "Dead": "dead",
    "PreparingRebalance": "rebalancing",
    "CompletingRebalance": "rebalancing",
    "AwaitingSync": "rebalancing",
    "Assigning": "rebalancing",
    "Reconciling": "rebalancing",
}
