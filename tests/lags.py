"""The lags that samples of brokers make, counted as a watcher has them counted."""

from __future__ import annotations

from zkdash.broker.ledger import Sampled
from zkdash.broker.samples import Samples
from zkdash.cluster.model.brokers.kafka_groups import KafkaGroups
from zkdash.cluster.model.brokers.lags import Lags
from zkdash.cluster.model.state import ClusterState
from zkdash.live.watching.kafka_listing import KafkaListing
from zkdash.live.watching.lag_book import LagBook

NOW = 1_000.0


def told(samples: Samples) -> Sampled:
    """All that samples hold, as if it had just been told."""
    groups = frozenset({*samples.commits, *samples.descriptions})
    return Sampled(frozenset(samples.ends), groups)


def counted(state: ClusterState, samples: Samples) -> Lags:
    book = LagBook()
    book.take(told(samples), state, samples, NOW)
    return book.lags


def listed(state: ClusterState, samples: Samples) -> KafkaGroups:
    listing = KafkaListing()
    listing.take(told(samples), samples, NOW)
    return KafkaGroups.of(listing.groups.groups, state.groups)
