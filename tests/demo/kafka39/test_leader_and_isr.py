"""The controller's arithmetic of leaders and ISRs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.demo.kafka39.controller import leader_and_isr
from zkdash.kafka.values import PartitionState


def state(leader: int, *isr: int, epoch: int = 4) -> PartitionState:
    return PartitionState(leader=leader, leader_epoch=epoch, controller_epoch=1, isr=isr)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        # the cases of a real 3.9.1 cluster whose broker 3 was killed, as its transaction log tells them
        (leader_and_isr.leader_for_offline(state(3, 3, 1), (3, 1), {1, 2}), state(1, 1, epoch=5)),
        (leader_and_isr.leader_for_offline(state(3, 3, 1, 2), (3, 1, 2), {1, 2}), state(1, 1, 2, epoch=5)),
        (leader_and_isr.leader_for_offline(state(3, 3), (3,), {1, 2}), None),
        (leader_and_isr.remove_from_isr(state(3, 3), {3}), state(-1, 3, epoch=5)),
        (leader_and_isr.remove_from_isr(state(1, 1, 2, 3), {3}), state(1, 1, 2, epoch=5)),
        # ... and its return: ISRs grow without a new leader epoch
        (leader_and_isr.leader_for_offline(state(-1, 3), (3,), {1, 2, 3}), state(3, 3, epoch=5)),
        (leader_and_isr.expand_isr(state(1, 1, 2), 3), state(1, 1, 2, 3)),
        (leader_and_isr.expand_isr(state(-1, 2), 3), None),
        (leader_and_isr.remove_from_isr(state(-1, 3), {3}), None),
        (leader_and_isr.remove_from_isr(state(1, 1, 2), {3}), None),
        # elections of the preferred replica
        (
            leader_and_isr.leader_for_preferred_replica(state(2, 1, 2), (1, 2), {1, 2}),
            state(1, 1, 2, epoch=5),
        ),
        (leader_and_isr.leader_for_preferred_replica(state(1, 1, 2), (1, 2), {1, 2}), None),
        (leader_and_isr.leader_for_preferred_replica(state(2, 2), (1, 2), {1, 2}), None),
        (leader_and_isr.leader_for_preferred_replica(state(2, 1, 2), (1, 2), {2}), None),
        # the end of a move from 1,3 to 3,2
        (
            leader_and_isr.leader_for_reassignment(state(1, 1, 3, 2), (3, 2), {1, 2, 3}),
            state(3, 1, 3, 2, epoch=5),
        ),
        (leader_and_isr.leader_for_reassignment(state(3, 1, 3, 2), (3, 2), {1, 2, 3}), None),
        (leader_and_isr.renew_leader_epoch(state(1, 1, 3)), state(1, 1, 3, epoch=5)),
        # followers that lag
        (leader_and_isr.shrink_isr(state(1, 1, 2), 2), state(1, 1)),
        (leader_and_isr.shrink_isr(state(1, 1, 2), 1), None),
    ],
)
def test_a_decision_is_the_one_that_kafka_takes(
    found: PartitionState | None, expected: PartitionState | None
) -> None:
    assert found == expected


def test_a_new_partition_is_led_by_its_first_live_replica() -> None:
    assert leader_and_isr.initialize((99, 1, 2), {1, 2}) == PartitionState(1, 0, 0, (1, 2))
    assert leader_and_isr.initialize((99,), {1, 2}) is None


brokers = st.sets(st.integers(1, 6), min_size=1)


@given(isr=st.permutations([1, 2, 3]), live=brokers, replicas=st.permutations([1, 2, 3]))
def test_an_elected_leader_lives_is_in_sync_and_is_assigned(
    isr: list[int], live: set[int], replicas: list[int]
) -> None:
    elected = leader_and_isr.leader_for_offline(state(isr[0], *isr), replicas, live)
    assert (elected is None) == (not live & {1, 2, 3})
    if elected is not None:
        assert elected.leader in live
        assert elected.leader in elected.isr
        assert set(elected.isr) == live & set(isr)
        assert elected.leader_epoch == 5


@given(isr=st.lists(st.integers(1, 6), min_size=1, unique=True), gone=brokers)
def test_the_isr_is_never_empty(isr: list[int], gone: set[int]) -> None:
    left = leader_and_isr.remove_from_isr(state(isr[0], *isr), gone)
    if left is not None:
        assert left.isr
        assert left.leader in {-1, isr[0]}
        assert (left.leader == -1) == (isr[0] in gone)
