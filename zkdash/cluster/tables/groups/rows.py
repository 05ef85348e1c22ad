"""A row of the Groups page: a group as ZooKeeper has it, as Kafka has it, or both, with its lag."""

from __future__ import annotations

import msgspec

from zkdash.cluster.model.brokers.kafka_groups import KafkaGroup
from zkdash.cluster.model.brokers.lags import GroupLag
from zkdash.cluster.model.groups import GroupSummary
from zkdash.cluster.model.severity import Severity

EMPTY = "empty"
REBALANCING = "rebalancing"
STABLE = "stable"


class GroupRow(msgspec.Struct, frozen=True, gc=False):
    """One group. At least one of `summary` (what ZooKeeper holds) and `kafka` (what brokers list) is there.

    `is_restless` tells that members or owners moved within the last seconds.
    The collector does not follow rows: a sort makes thousands of them, and none is part of a cycle.
    """

    name: str
    summary: GroupSummary | None
    kafka: KafkaGroup | None
    lag: GroupLag
    is_restless: bool = False

    @property
    def severity(self) -> Severity:
        """What ZooKeeper tells is judged, as it can be: of members in Kafka only their state is known."""
        if self.summary is not None:
            return self.summary.severity
        return Severity.UNKNOWN if self.kafka is None else self.kafka.severity

    @property
    def troubled(self) -> int:
        """How many of its partitions are in trouble, as far as ZooKeeper tells."""
        return 0 if self.summary is None else self.summary.troubled

    @property
    def words(self) -> str:
        if self.summary is not None:
            return self.summary.words
        return "" if self.kafka is None else self.kafka.words

    @property
    def kept_in(self) -> str:
        """ "ZooKeeper", "Kafka" or "both": where its members register or its offsets are."""
        if self.summary is None:
            return "Kafka"
        return "ZooKeeper" if self.kafka is None else "both"

    @property
    def state(self) -> str | None:
        """A word for whether it is at work, None where brokers did not tell."""
        if self.summary is None or not self.summary.members:
            if self.kafka is not None and self.kafka.state != "Empty":
                return None if self.kafka.state is None else _STATES.get(self.kafka.state, REBALANCING)
            return EMPTY
        return REBALANCING if self.is_restless else STABLE

    @property
    def members(self) -> int | None:
        """How many there are, in ZooKeeper and in Kafka; None where brokers did not tell."""
        in_kafka = 0 if self.kafka is None else self.kafka.members
        if self.summary is None:
            return in_kafka
        return self.summary.members + (in_kafka or 0)

    @property
    def topics(self) -> frozenset[str]:
        in_zookeeper = frozenset[str]() if self.summary is None else self.summary.topics
        return in_zookeeper if self.kafka is None else in_zookeeper | self.kafka.topics

    @property
    def owned(self) -> int | None:
        """How many partitions have an owner in ZooKeeper, or for a group in Kafka alone were assigned."""
        if self.summary is not None:
            return self.summary.owned
        return None if self.kafka is None else self.kafka.assigned


_STATES = {"Stable": STABLE, "Dead": "dead"}
