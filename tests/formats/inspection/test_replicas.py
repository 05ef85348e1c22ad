"""Replicas that hold the same entries are the same, whatever their segments; else the place is told."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from tests.formats import messages
from tests.formats.inspection.sources import source
from zkdash.formats.inspection.replicas import ReplicaSegment, difference
from zkdash.formats.kafkalog.frames import Source

BATCHES = [
    messages.batch(base, [(0, 0, None, b"%d" % base, ()), (1, 0, None, b"", ())]) for base in range(0, 20, 2)
]


@contextmanager
def _opened(data: bytes) -> Iterator[Source]:
    yield source(data)


def replica(batches: list[bytes], *cuts: int) -> list[ReplicaSegment]:
    """Batches of two offsets each in segments; one begins at each of the cuts, numbers of batches."""
    places = [0, *cuts, len(batches)]
    pieces = [(first, b"".join(batches[first:last])) for first, last in itertools.pairwise(places)]
    return [ReplicaSegment(2 * first, partial(_opened, data)) for first, data in pieces]


def test_where_segments_begin_makes_no_difference() -> None:
    assert difference(replica(BATCHES, 3, 5), replica(BATCHES, 2, 7), 0, 20) is None


@pytest.mark.parametrize("at", [0, 4, 9])
def test_another_entry_is_told_by_its_offset(at: int) -> None:
    other = messages.batch(2 * at, [(0, 0, None, b"else", ()), (1, 0, None, b"", ())])
    differing = difference(replica(BATCHES), replica([*BATCHES[:at], other, *BATCHES[at + 1 :]], 5), 0, 20)
    assert differing is not None
    assert (differing.offset, differing.entries) == (2 * at, 1)
    assert (differing.first.startswith("has checksum"), differing.first == differing.second) == (True, False)


def test_an_entry_that_only_one_holds_and_one_whose_checksum_does_not_hold() -> None:
    differing = difference(replica(BATCHES), replica([*BATCHES[:4], *BATCHES[6:]]), 0, 20)
    assert differing == (8, 2, "holds an entry", "holds none")
    rotten = bytearray(BATCHES[3])
    rotten[-1] ^= 4
    differing = difference(replica([*BATCHES[:3], bytes(rotten), *BATCHES[4:]]), replica(BATCHES), 0, 20)
    assert differing == (6, 1, "holds an entry whose checksum does not hold", "holds it whole")


def test_another_leader_epoch_is_a_difference_that_no_checksum_tells() -> None:
    other = bytearray(BATCHES[2])
    other[12:16] = (6).to_bytes(4, "big")
    differing = difference(replica(BATCHES), replica([*BATCHES[:2], bytes(other), *BATCHES[3:]]), 0, 20)
    assert differing == (4, 1, "has leader epoch 5", "has leader epoch 6")


def test_below_the_start_and_behind_the_end_nothing_is_compared() -> None:
    other = [messages.batch(2 * n, [(1, 0, None, b"else", ())]) for n in range(10)]
    mixed = [*other[:3], *BATCHES[3:8], *other[8:]]
    assert difference(replica(BATCHES, 2, 4), replica(mixed, 5), 6, 16) is None
    differing = difference(replica(BATCHES), replica(mixed), 0, 20)
    assert differing is not None
    assert (differing.offset, differing.entries) == (0, 5)


def test_what_cannot_be_framed_is_held_by_nobody() -> None:
    broken = b"".join(BATCHES[:4]) + b"\xff" * 40
    differing = difference(replica(BATCHES), [ReplicaSegment(0, partial(_opened, broken))], 0, 20)
    assert differing == (8, 6, "holds an entry", "holds none")
