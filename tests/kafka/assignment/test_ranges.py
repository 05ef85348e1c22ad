"""Range assignment of partitions to consumer threads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hypothesis import given
from hypothesis import strategies as st

from zkdash.kafka.assignment import ranges


def test_five_partitions_on_four_threads_go_as_in_kafkas_comment() -> None:
    owners = ranges.assign_range(range(5), ["C2-1", "C1-0", "C2-0", "C1-1"])
    assert owners == {0: "C1-0", 1: "C1-0", 2: "C1-1", 3: "C2-0", 4: "C2-1"}


def test_threads_beyond_the_partitions_stay_idle() -> None:
    owners = ranges.assign_range(range(4), ["A-0", "A-1", "B-0", "B-1", "C-0", "C-1"])
    assert owners == {0: "A-0", 1: "A-1", 2: "B-0", 3: "B-1"}


def test_thread_ids_sort_as_text() -> None:
    owners = ranges.assign_range(range(12), [f"g_h-1-aaaaaaaa-{n}" for n in range(12)])
    assert {p: owners[p].rpartition("-")[2] for p in (2, 3, 4)} == {2: "10", 3: "11", 4: "2"}


def test_partitions_sort_as_numbers() -> None:
    assert ranges.assign_range([10, 2], ["a", "b"]) == {2: "a", 10: "b"}


def test_four_partitions_on_three_threads_are_neither_floor_nor_ceiling() -> None:
    owners = ranges.assign_range(range(4), ["A-0", "B-0", "C-0"])
    assert owners == {0: "A-0", 1: "A-0", 2: "B-0", 3: "C-0"}


def test_nobody_owns_anything_in_a_group_without_threads() -> None:
    assert ranges.assign_range(range(3), []) == {}


@given(partitions=st.sets(st.integers(0, 500)), threads=st.sets(st.text(max_size=5), min_size=1))
def test_every_partition_has_one_owner_and_shares_differ_by_at_most_one(
    partitions: set[int], threads: set[str]
) -> None:
    owners = ranges.assign_range(partitions, threads)
    shares = [sum(1 for t in owners.values() if t == thread) for thread in threads]
    assert set(owners) == partitions
    assert max(shares) - min(shares) <= 1


def test_partitions_of_0_7_sort_as_text() -> None:
    keys = [f"{broker}-{part}" for broker in (0, 2, 10) for part in (0, 1, 10)]
    owners = ranges.assign_range(keys, ["A-0", "B-0", "C-0"])
    assert list(owners) == ["0-0", "0-1", "0-10", "10-0", "10-1", "10-10", "2-0", "2-1", "2-10"]
    assert [owners[key] for key in ("0-10", "10-0", "10-10", "2-0")] == ["A-0", "B-0", "B-0", "C-0"]


def _shares(owners: Mapping[int, str], threads: Iterable[str]) -> list[int]:
    return [sum(1 for owner in owners.values() if owner == thread) for thread in threads]


def test_the_documents_formula_rounded_down_leaves_partitions_over() -> None:
    threads = ["A-0", "B-0", "C-0", "D-0"]
    owners = ranges.assign_floor(range(5), threads)
    assert _shares(owners, threads) == [1, 1, 1, 1]
    assert 4 not in owners


def test_the_documents_formula_rounded_up_leaves_threads_without() -> None:
    threads = ["A-0", "B-0", "C-0", "D-0"]
    assert _shares(ranges.assign_ceil(range(5), threads), threads) == [2, 2, 1, 0]
    assert _shares(ranges.assign_ceil(range(4), threads[:3]), threads[:3]) == [2, 2, 0]


def test_document_004_contradicts_its_formula_by_its_example() -> None:
    """Nodes 1, 2, 3 with one thread each own 0 and 1, 2, 3 of four partitions."""
    example = {0: "node1", 1: "node1", 2: "node2", 3: "node3"}
    assert ranges.assign_range(range(4), ["node1", "node2", "node3"]) == example
    assert ranges.assign_ceil(range(4), ["node1", "node2", "node3"]) != example


def test_no_threads_get_nothing_by_the_documents_either() -> None:
    assert ranges.assign_floor(range(3), []) == ranges.assign_ceil(range(3), []) == {}
