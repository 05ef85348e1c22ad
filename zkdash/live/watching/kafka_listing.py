"""Keeps the groups that brokers list, as their coordinators describe them. Runs on the sampler's thread."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.broker.ledger import Sampled, topics_used
from zkdash.broker.samples import Description, Listing, Samples, UnknownDescription
from zkdash.cluster.model.brokers.kafka_groups import KafkaGroup, KafkaGroups

PUBLISH_S = 2.0


class KafkaListing:
    """The groups of one cluster; one thread only, but for `groups`, which anybody may read."""

    def __init__(self) -> None:
        self.groups = KafkaGroups()
        self._listings: Mapping[int, Listing] = {}
        self._touched: set[str] = set()
        self._published_at = float("-inf")

    def take(self, sampled: Sampled, samples: Samples, now: float) -> None:
        """Take over what was told anew; `now` is the epoch second."""
        self._touched |= sampled.groups | sampled.dropped
        is_listed_anew = samples.listings is not self._listings
        if now - self._published_at < PUBLISH_S or not (self._touched or is_listed_anew):
            return
        self._published_at, self._listings = now, samples.listings
        in_zookeeper = frozenset(self.groups.groups)
        self._publish(in_zookeeper, samples.groups() if is_listed_anew else in_zookeeper, samples)

    def _publish(self, in_zookeeper: frozenset[str], listed: frozenset[str], samples: Samples) -> None:
        before = self.groups.groups
        groups = before.mutate()
        for name in in_zookeeper - listed:
            del groups[name]
        for name in (listed - in_zookeeper) | (listed & self._touched):
            groups[name] = _group(name, samples)
        self._touched = set()
        after = groups.finish()
        if after != before:
            self.groups = KafkaGroups.of(after)


def _group(name: str, samples: Samples) -> KafkaGroup:
    """One group; what is known of old commits counts to its topics too."""
    topics = topics_used(samples, name)
    description = samples.described(name)
    if isinstance(description, UnknownDescription):
        return KafkaGroup(name, None, description.reason, topics=topics)
    return KafkaGroup(
        name,
        description.state,
        protocol_type=description.protocol_type,
        protocol=description.protocol,
        members=len(description.members),
        topics=topics,
        assigned=_assigned(description),
    )


def _assigned(description: Description) -> int | None:
    if any(member.assigned is None for member in description.members):
        return None
    return sum(len(numbers) for member in description.members for numbers in (member.assigned or {}).values())
