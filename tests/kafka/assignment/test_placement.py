"""Placement of replicas: the worked examples in Kafka's own comments, and rules that hold for all inputs."""

from __future__ import annotations

import collections

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.kafka.assignment import placement

RACKS = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}


def test_ten_partitions_on_five_brokers_are_placed_as_in_kafkas_comment() -> None:
    placed = placement.place(range(5), partitions=10, replication=3)
    assert [placed[p] for p in (0, 4, 5, 9)] == [(0, 1, 2), (4, 0, 1), (0, 2, 3), (4, 1, 2)]


def test_racks_take_turns_in_the_order_of_kafkas_comment() -> None:
    assert placement.alternate_racks(RACKS) == (0, 3, 1, 5, 4, 2)


def test_racks_spread_replicas_as_in_kafkas_comment() -> None:
    placed = placement.place_in_racks(RACKS, partitions=7, replication=3)
    assert [placed[p] for p in (0, 5, 6)] == [(0, 3, 1), (2, 0, 3), (0, 4, 2)]


def test_start_and_shift_move_the_ring() -> None:
    assert placement.place(range(5), partitions=1, replication=3, start=2, shift=1)[0] == (2, 4, 0)


def test_added_partitions_count_laps_from_where_they_begin() -> None:
    added = placement.place(range(5), partitions=5, replication=3, first_partition=6)
    assert added[6] == (1, 2, 3)
    assert added[10] == (0, 2, 3)


def test_a_single_broker_holds_everything() -> None:
    assert placement.place([7], partitions=3, replication=1) == {0: (7,), 1: (7,), 2: (7,)}


@pytest.mark.parametrize("replication", [0, 4])
def test_a_replication_factor_that_does_not_fit_is_refused_in_words(replication: int) -> None:
    with pytest.raises(ValueError, match=rf"factor of {replication} does not fit 3 brokers"):
        placement.place(range(3), partitions=1, replication=replication)


@given(
    racks=st.dictionaries(
        st.integers(0, 50), st.sampled_from("abcd").map("rack-{}".format), min_size=1, max_size=12
    ),
    data=st.data(),
)
def test_replicas_are_distinct_and_share_no_rack_while_racks_are_left(
    racks: dict[int, str], data: st.DataObject
) -> None:
    replication = data.draw(st.integers(1, len(racks)))
    start, shift = (data.draw(st.integers(0, len(racks) - 1)) for _ in "ab")
    placed = placement.place_in_racks(
        racks, partitions=2 * len(racks), replication=replication, start=start, shift=shift
    )
    for replicas in placed.values():
        assert len(set(replicas)) == replication
        assert len({racks[b] for b in replicas}) == min(replication, len(set(racks.values())))


@given(brokers=st.integers(1, 12), laps=st.integers(1, 3), start=st.integers(0, 11))
def test_preferred_leaders_are_even_after_whole_laps(brokers: int, laps: int, start: int) -> None:
    placed = placement.place(range(brokers), partitions=brokers * laps, replication=1, start=start)
    assert set(collections.Counter(r[0] for r in placed.values()).values()) == {laps}
