"""Range assignment of partitions to consumer threads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zkdash.kafka import assignment


def test_five_partitions_on_four_threads_go_as_in_kafkas_comment():
    owners = assignment.assign_range(range(5), ["C2-1", "C1-0", "C2-0", "C1-1"])
    assert owners == {0: "C1-0", 1: "C1-0", 2: "C1-1", 3: "C2-0", 4: "C2-1"}


def test_threads_beyond_the_partitions_stay_idle():
    owners = assignment.assign_range(range(4), ["A-0", "A-1", "B-0", "B-1", "C-0", "C-1"])
    assert owners == {0: "A-0", 1: "A-1", 2: "B-0", 3: "B-1"}


def test_thread_ids_sort_as_text():
    owners = assignment.assign_range(range(12), [f"g_h-1-aaaaaaaa-{n}" for n in range(12)])
    assert {p: owners[p].rpartition("-")[2] for p in (2, 3, 4)} == {2: "10", 3: "11", 4: "2"}


def test_partitions_sort_as_numbers():
    assert assignment.assign_range([10, 2], ["a", "b"]) == {2: "a", 10: "b"}


def test_four_partitions_on_three_threads_are_neither_floor_nor_ceiling():
    owners = assignment.assign_range(range(4), ["A-0", "B-0", "C-0"])
    assert owners == {0: "A-0", 1: "A-0", 2: "B-0", 3: "C-0"}


def test_nobody_owns_anything_in_a_group_without_threads():
    assert assignment.assign_range(range(3), []) == {}


@given(partitions=st.sets(st.integers(0, 500)), threads=st.sets(st.text(max_size=5), min_size=1))
def test_every_partition_has_one_owner_and_shares_differ_by_at_most_one(partitions, threads):
    owners = assignment.assign_range(partitions, threads)
    shares = [sum(1 for t in owners.values() if t == thread) for thread in threads]
    assert set(owners) == partitions
    assert max(shares) - min(shares) <= 1
