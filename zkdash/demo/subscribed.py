"""What a consumer reads before it computes: the registrations of its group, and partitions of topics.

After kafka.consumer.TopicCount and kafka.utils.ZkUtils.getPartitionsForTopics of 0.7 and of 0.8 to 1.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from zkdash.demo import agenda, session
from zkdash.demo.specs import ConsumerSpec
from zkdash.kafka import paths
from zkdash.kafka.assignment.demand import Demand
from zkdash.kafka.consumers import subscriptions
from zkdash.kafka.layouts import consumers, topics
from zkdash.kafka.values import Layout, Pattern, Registration, Unparsable


class AttemptFailed(Exception):  # noqa: N818 - what happens to an attempt, and is tried again
    """An attempt to rebalance cannot go on; the message says why."""


class Subscribed:
    """One consumer's view of its group. `then` runs once when a watched topic's partitions changed."""

    def __init__(
        self, zookeeper: session.Session, spec: ConsumerSpec, consumer_id: str, *, then: agenda.Step
    ) -> None:
        self._zookeeper = zookeeper
        self._spec = spec
        self._consumer_id = consumer_id
        self._then = then
        self._seen: dict[str, tuple[str, ...]] = {}
        self._partitions: Callable[[str, agenda.Step | None], tuple[str, ...]]
        self._partitions = self._partitions_07 if spec.layout is Layout.V07 else self._partitions_08

    def demand(self) -> Demand:
        """The whole group's demand; the topics of this consumer are watched. Raises AttemptFailed."""
        members = self._members()
        mine = members.get(self._consumer_id)
        if mine is None:
            raise AttemptFailed(f"{self._consumer_id} is not registered")
        wanted = {topic: None for topics_of in members.values() for topic in topics_of}
        return Demand(members, {t: self._partitions(t, self._then if t in mine else None) for t in wanted})

    def _members(self) -> dict[str, dict[str, int]]:
        """Threads by topic of every member. One registration that is not understood stops the whole group."""
        ids_path = f"{paths.group(self._spec.group)}/ids"
        ids = self._zookeeper.children(ids_path)
        reads = self._zookeeper.get_all([f"{ids_path}/{consumer_id}" for consumer_id in ids])
        registered = {
            consumer_id: _understood(consumer_id, read.data)
            for consumer_id, read in zip(ids, reads, strict=True)
            if read is not None
        }
        return self._resolved(registered)

    def _resolved(self, registered: dict[str, Registration]) -> dict[str, dict[str, int]]:
        wildcards = any(each.pattern is not Pattern.STATIC for each in registered.values())
        names = self._zookeeper.children(paths.TOPICS) if wildcards else ()
        found = subscriptions.resolve(registered, names)
        for consumer_id, reason in found.unclear.items():
            raise AttemptFailed(f"{consumer_id}: {reason}")
        return {consumer_id: dict(topics_of) for consumer_id, topics_of in found.members.items()}

    def _partitions_08(self, topic: str, then: agenda.Step | None) -> tuple[str, ...]:
        """Partition ids; the topic's data is watched. None where there is no such topic."""
        read = self._zookeeper.get(paths.topic(topic), then=then and self._unless_the_same(topic))
        found = () if read is None else _partitions(read.data)
        if found is None:
            raise AttemptFailed(f"the topic {topic} cannot be understood")
        self._seen[topic] = found
        return found

    def _unless_the_same(self, topic: str) -> agenda.Step:
        """The consumer of 0.8 and later takes no notice of a topic that is deleted, only of what follows.

        It rebalances at any write of a topic. Here it does not where only replicas move, which would end as
        it began: draining a broker would keep every group of the demo busy.
        """

        def changed() -> None:
            read = self._zookeeper.get(paths.topic(topic), then=changed)
            if read is not None and _partitions(read.data) != self._seen.get(topic):
                self._then()

        return changed

    def _partitions_07(self, topic: str, then: agenda.Step | None) -> tuple[str, ...]:
        """ "broker-part" of every broker that serves the topic; the topic's children are watched."""
        brokers = self._zookeeper.children(paths.topic(topic), then=then)
        if not brokers and then is not None:
            self._zookeeper.get(paths.topic(topic), then=then)  # nobody has served it yet: wait for the first
        reads = self._zookeeper.get_all([f"{paths.topic(topic)}/{broker}" for broker in brokers])
        counts = zip(brokers, reads, strict=True)
        return tuple(
            f"{b}-{part}" for b, read in counts if read is not None for part in range(int(read.data))
        )


def _partitions(data: bytes) -> tuple[str, ...] | None:
    """The partition ids of a topic; None for what is no assignment."""
    assignment, _ = topics.parse_assignment(data)
    if assignment is None or isinstance(assignment, Unparsable):
        return None
    return tuple(map(str, sorted(assignment.partitions)))


def allowed(spec: ConsumerSpec, names: Iterable[str]) -> frozenset[str]:
    """The topics that a wildcard consumer reads, of all that there are."""
    own = Registration(spec.layout, spec.pattern, spec.subscription)
    return frozenset(subscriptions.resolve({"": own}, tuple(names)).members.get("", {}))


def _understood(consumer_id: str, data: bytes) -> Registration:
    registration, _ = consumers.parse_registration(data)
    if isinstance(registration, Unparsable):
        raise AttemptFailed(f"the registration of {consumer_id} cannot be understood: {registration.reason}")
    return registration
