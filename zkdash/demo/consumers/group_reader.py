"""What a consumer reads before it computes owners: the registrations of its group, and partitions of topics.

After kafka.consumer.TopicCount and kafka.utils.ZkUtils.getPartitionsForTopics of 0.7 and of 0.8 to 1.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from zkdash.demo.consumers.configs import ConsumerConfig
from zkdash.demo.runtime import event_loop, session
from zkdash.kafka import paths
from zkdash.kafka.assignment.assignment_context import AssignmentContext
from zkdash.kafka.consumers import subscriptions
from zkdash.kafka.layouts import consumers, topics
from zkdash.kafka.values import Layout, Pattern, Registration, Unparsable


class AttemptFailedError(Exception):
    """An attempt to rebalance cannot go on; the message says why."""


class GroupReader:
    """One consumer's view of its group. `then` runs once when a watched topic's partitions changed."""

    def __init__(
        self, zookeeper: session.Session, config: ConsumerConfig, consumer_id: str, *, then: event_loop.Task
    ) -> None:
        self._zookeeper = zookeeper
        self._config = config
        self._consumer_id = consumer_id
        self._then = then
        self._partitions_read: dict[str, tuple[str, ...]] = {}
        self._partitions: Callable[[str, event_loop.Task | None], tuple[str, ...]]
        self._partitions = self._partitions_07 if config.layout is Layout.V07 else self._partitions_08

    def read(self) -> AssignmentContext:
        """Members and partitions of the whole group; own topics are watched. Raises AttemptFailedError."""
        members = self._members()
        mine = members.get(self._consumer_id)
        if mine is None:
            raise AttemptFailedError(f"{self._consumer_id} is not registered")
        wanted = {topic: None for topics_of in members.values() for topic in topics_of}
        return AssignmentContext(
            members, {t: self._partitions(t, self._then if t in mine else None) for t in wanted}
        )

    def _members(self) -> dict[str, dict[str, int]]:
        """Threads by topic of every member. One registration that is not understood stops the whole group."""
        ids_path = f"{paths.group(self._config.group)}/ids"
        ids = self._zookeeper.children(ids_path)
        reads = self._zookeeper.get_all([f"{ids_path}/{consumer_id}" for consumer_id in ids])
        registered = {
            consumer_id: _parse_registration(consumer_id, read.data)
            for consumer_id, read in zip(ids, reads, strict=True)
            if read is not None
        }
        return self._resolve(registered)

    def _resolve(self, registered: dict[str, Registration]) -> dict[str, dict[str, int]]:
        wildcards = any(each.pattern is not Pattern.STATIC for each in registered.values())
        names = self._zookeeper.children(paths.TOPICS) if wildcards else ()
        resolved = subscriptions.resolve(registered, names)
        for consumer_id, reason in resolved.unclear.items():
            raise AttemptFailedError(f"{consumer_id}: {reason}")
        return {consumer_id: dict(topics_of) for consumer_id, topics_of in resolved.members.items()}

    def _partitions_08(self, topic: str, then: event_loop.Task | None) -> tuple[str, ...]:
        """Partition ids; the topic's data is watched. None where there is no such topic."""
        read = self._zookeeper.get(paths.topic(topic), then=then and self._on_other_partitions(topic))
        partitions = () if read is None else _parse_partitions(read.data)
        if partitions is None:
            raise AttemptFailedError(f"the topic {topic} cannot be understood")
        self._partitions_read[topic] = partitions
        return partitions

    def _on_other_partitions(self, topic: str) -> event_loop.Task:
        """0.8 and later ignore that a topic is deleted, and rebalance at any other write of it.

        Here it does not where only replicas move, as the result would be the same: draining a broker would
        keep every group of the demo busy.
        """

        def changed() -> None:
            read = self._zookeeper.get(paths.topic(topic), then=changed)
            if read is not None and _parse_partitions(read.data) != self._partitions_read.get(topic):
                self._then()

        return changed

    def _partitions_07(self, topic: str, then: event_loop.Task | None) -> tuple[str, ...]:
        """ "broker-part" of every broker that serves the topic; the topic's children are watched."""
        brokers = self._zookeeper.children(paths.topic(topic), then=then)
        if not brokers and then is not None:
            self._zookeeper.get(paths.topic(topic), then=then)  # nobody has served it yet: wait for the first
        reads = self._zookeeper.get_all([f"{paths.topic(topic)}/{broker}" for broker in brokers])
        counts = zip(brokers, reads, strict=True)
        return tuple(
            f"{b}-{part}" for b, read in counts if read is not None for part in range(int(read.data))
        )


def _parse_partitions(data: bytes) -> tuple[str, ...] | None:
    """The partition ids of a topic; None where the data cannot be understood."""
    assignment, _ = topics.parse_assignment(data)
    if assignment is None or isinstance(assignment, Unparsable):
        return None
    return tuple(map(str, sorted(assignment.partitions)))


def allowed(config: ConsumerConfig, names: Iterable[str]) -> frozenset[str]:
    """The topics that a wildcard consumer reads, of all that there are."""
    own = Registration(config.layout, config.pattern, config.subscription)
    return frozenset(subscriptions.resolve({"": own}, tuple(names)).members.get("", {}))


def _parse_registration(consumer_id: str, data: bytes) -> Registration:
    registration, _ = consumers.parse_registration(data)
    if isinstance(registration, Unparsable):
        raise AttemptFailedError(
            f"the registration of {consumer_id} cannot be understood: {registration.reason}"
        )
    return registration
