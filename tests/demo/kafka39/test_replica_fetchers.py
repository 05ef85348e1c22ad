"""How far fetches of whole logs are, and what throttles do to them."""

from __future__ import annotations

import json

from zkdash.demo.kafka39.replica_fetchers import NETWORK_BYTES_S, ReplicaFetchers
from zkdash.demo.kafka39.throttles import Throttles
from zkdash.demo.kafka39.topic_partition import TopicPartition

SIZE = int(NETWORK_BYTES_S * 10)
ONE, TWO = TopicPartition("orders", 0), TopicPartition("orders", 1)


def fetchers() -> ReplicaFetchers:
    return ReplicaFetchers(lambda _topic, _partition: SIZE)


def seconds(
    made: ReplicaFetchers, *wanted: tuple[TopicPartition, int], leaders: dict[TopicPartition, int]
) -> int:
    """After how many seconds all of them are whole."""
    left = {fetch: leaders[fetch[0]] for fetch in wanted}
    assert made.advance(0.0, list(left), left) == []
    for now in range(1, 1_000):
        for whole in made.advance(float(now), list(left), left):
            del left[whole]
        if not left:
            return now
    raise AssertionError("not within 1000 s")


def test_a_fetch_takes_as_long_as_its_bytes_need() -> None:
    assert seconds(fetchers(), (ONE, 3), leaders={ONE: 1}) == 10


def test_fetches_to_one_broker_and_fetches_from_one_broker_share_its_network() -> None:
    assert seconds(fetchers(), (ONE, 3), (TWO, 3), leaders={ONE: 1, TWO: 2}) == 20
    assert seconds(fetchers(), (ONE, 3), (TWO, 4), leaders={ONE: 1, TWO: 1}) == 20
    assert seconds(fetchers(), (ONE, 3), (TWO, 4), leaders={ONE: 1, TWO: 2}) == 10


def config(**values: str) -> bytes:
    return json.dumps({"version": 1, "config": {k.replace("_", "."): v for k, v in values.items()}}).encode()


def test_a_throttle_holds_for_the_replicas_that_are_named_and_no_others() -> None:
    made = fetchers()
    made.throttles.update("topics/orders", config(follower_replication_throttled_replicas="0:3"))
    made.throttles.update("brokers/3", config(follower_replication_throttled_rate=str(SIZE // 50)))
    assert seconds(made, (ONE, 3), leaders={ONE: 1}) == 50
    assert seconds(made, (TWO, 3), leaders={TWO: 1}) == 10
    made.throttles.update("topics/orders", config(leader_replication_throttled_replicas="*"))
    made.throttles.update("brokers/1", config(leader_replication_throttled_rate=str(SIZE // 20)))
    assert seconds(made, (ONE, 3), (TWO, 4), leaders={ONE: 1, TWO: 1}) == 40


def test_what_was_fetched_stays_while_a_fetch_is_interrupted_and_goes_when_it_is_given_up() -> None:
    made = fetchers()
    wanted, flowing = [(ONE, 3)], {(ONE, 3): 1}
    made.advance(0.0, wanted, flowing)
    made.advance(6.0, wanted, {})
    assert not made.is_fetching
    made.advance(60.0, wanted, flowing)
    assert made.advance(63.0, wanted, flowing) == []
    assert made.advance(64.0, wanted, flowing) == [(ONE, 3)]
    made.advance(65.0, [], {})
    made.advance(66.0, wanted, flowing)
    assert made.advance(75.0, wanted, flowing) == []
    assert made.advance(76.0, wanted, flowing) == [(ONE, 3)]


def test_a_configuration_that_cannot_be_understood_leaves_the_throttle_as_it_was() -> None:
    throttles = Throttles()
    throttles.update("topics/orders", config(follower_replication_throttled_replicas="*"))
    throttles.update("brokers/3", config(follower_replication_throttled_rate="7"))
    for data in (b"[", b"[]", b'{"config": 3}'):
        throttles.update("brokers/3", data)
    assert throttles.follower_rate(ONE, 3) == 7
    throttles.update("brokers/3", None)
    assert throttles.follower_rate(ONE, 3) is None
