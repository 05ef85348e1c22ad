"""The partition of __consumer_offsets that keeps a group, as Java computes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.kafka.consumers import coordinators

# What Utils.abs(group.hashCode) % 50 gave on a JVM.
KNOWN = {"console-consumer-1": 24, "test": 48, "foobar": 13, "my-group": 12, "group1": 40}


@pytest.mark.parametrize(("group", "partition"), KNOWN.items())
def test_it_is_the_partition_that_java_computes(group: str, partition: int) -> None:
    assert coordinators.partition_of(group, 50) == partition


def test_the_smallest_hash_counts_as_zero() -> None:
    # "polygenelubricants" hashes to -2147483648, which has no absolute value in 32 bits
    assert coordinators.partition_of("polygenelubricants", 50) == 0


def test_a_character_beyond_sixteen_bits_counts_as_its_two_units() -> None:
    # 31 * 0xD83D + 0xDE00
    assert coordinators.partition_of("\U0001f600", 1_000_003) == (31 * 0xD83D + 0xDE00) % 1_000_003


@given(group=st.text(st.characters(), max_size=300), partitions=st.integers(1, 1000))
def test_every_group_has_one_of_the_partitions(group: str, partitions: int) -> None:
    assert 0 <= coordinators.partition_of(group, partitions) < partitions
