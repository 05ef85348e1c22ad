"""What a start cuts, case by case; that real brokers do so is tried in tests/logdirs."""

from __future__ import annotations

import random
import struct

import pytest

from tests.formats import messages
from tests.formats.inspection.sources import source
from zkdash.formats.inspection import recovery
from zkdash.formats.inspection.index_rules import Release, Settings
from zkdash.formats.inspection.recovery import LogState, Segment, What
from zkdash.formats.kafkalog import segments_07

UNCLEAN = LogState(is_clean=False)
LAST: Release = (3, 9)


def batch(offset: int, size: int = 300) -> bytes:
    return messages.batch(offset, [(0, 0, None, b"v" * size, ())])


def log(*offsets: int) -> bytes:
    return b"".join(map(batch, offsets))


def segment(base: int, data: bytes, index: bytes | None = b"") -> Segment:
    return Segment(base, source(data), None if index is None else source(index))


def fates(
    segments: list[Segment], known: LogState = UNCLEAN, release: Release = LAST, interval: int = 4096
) -> list[tuple[What, int]]:
    found = recovery.log(segments, known, Settings(release, interval))
    return [(each.what, each.kept) for each in found]


def test_a_clean_stop_cuts_nothing() -> None:
    data = log(0, 1)
    assert fates([segment(0, data[:-1])], LogState(is_clean=True)) == [(What.KEPT, len(data) - 1)]


def test_what_follows_a_cut_is_deleted() -> None:
    data = log(0, 1)
    found = fates([segment(0, data), segment(2, log(2, 3)[:-1]), segment(9, log(9, 10))])
    assert found == [(What.READ, len(data)), (What.CUT, len(data) // 2), (What.DELETED, 0)]


def test_segments_before_the_recovery_point_are_not_read() -> None:
    data = log(0, 1)
    known = LogState(is_clean=False, recovery_point=12, snapshots=(10,))
    found = fates([segment(0, data[:-1]), segment(10, log(10, 11))], known)
    assert found == [(What.KEPT, len(data) - 1), (What.READ, len(data))]


def test_a_missing_index_has_its_segment_read_whatever_the_stop_and_keeps_what_follows() -> None:
    data = log(0, 1)
    broken = [segment(0, data[:-1], None), segment(2, log(2, 3))]
    assert [what for what, _ in fates(broken, LogState(is_clean=True))] == [What.CUT, What.KEPT]
    assert [what for what, _ in fates(broken)] == [What.CUT, What.READ]


def test_offsets_that_do_not_rise_in_the_index_empty_the_segment() -> None:
    data = log(5, 8, 9, 6, 10)
    found = fates([segment(5, data), segment(20, log(20))], interval=1)
    assert found == [(What.EMPTIED, 0), (What.DELETED, 0)]
    assert fates([segment(5, data)]) == [(What.READ, len(data))]  # no entry of the index is made


def test_an_index_with_zeros_is_judged_as_its_release_does() -> None:
    data = log(0, 1)
    zeros = bytes(80)
    clean = LogState(is_clean=True)
    for release, wanted in (((0, 8), What.REFUSED), ((1, 1), What.READ), ((2, 4), What.KEPT)):
        assert fates([segment(0, data, zeros)], clean, release)[0][0] == wanted
    assert fates([segment(0, data, zeros)], release=(0, 8))[0][0] == What.READ
    assert fates([segment(0, data, b"abc")], clean, (1, 1))[0][0] == What.READ


def test_a_message_above_the_limit_is_damage_up_to_0_10() -> None:
    small, large = messages.message(0, b"v", magic=0), messages.message(1, b"v" * 2000, magic=0)
    data = [segment(0, small + large)]
    for release, kept in (((0, 8), len(small)), ((1, 1), len(small + large))):
        settings = Settings(release, largest=1000)
        assert [each.kept for each in recovery.log(data, UNCLEAN, settings)] == [kept]


def test_an_offset_out_of_reach_splits_the_segment_or_stays() -> None:
    data = log(0, 1 << 40)
    assert fates([segment(0, data)])[0][0] == What.SPLIT
    assert fates([segment(0, data)], release=(1, 1))[0][0] == What.READ


def test_a_log_that_ends_before_its_start_is_deleted() -> None:
    known = LogState(is_clean=False, start=50)
    assert fates([segment(0, log(0, 1))], known)[0][0] == What.DELETED
    assert fates([segment(0, log(0, 1))], known, (1, 1))[0][0] == What.READ


def test_a_segment_that_is_read_for_producers_must_be_framed() -> None:
    earlier, later = segment(0, log(0, 1) + bytes(40)), segment(10, log(10))
    point = LogState(is_clean=False, recovery_point=10)
    assert fates([earlier, later], point)[0][0] == What.REFUSED
    assert [what for what, _ in fates([earlier, later], point._replace(snapshots=(10,)))] == [
        What.KEPT,
        What.READ,
    ]


def test_the_aborted_transactions_of_another_segment_have_it_read() -> None:
    aborted = struct.pack("!hqqqq", 0, 1, 2, 3, 3)
    wrong = segment(10, log(10))._replace(aborted=aborted)
    assert fates([wrong], LogState(is_clean=True))[0][0] == What.READ


def test_0_7_is_cut_at_any_damage_where_its_decoder_finds_it() -> None:
    data = b"".join(messages.oldest(b"x" * n, magic=n % 2) for n in range(30))
    chance = random.Random(3)  # noqa: S311 - damage, no secret
    for _ in range(200):
        at = chance.randrange(len(data))
        flipped = bytes([data[at] ^ 1 << chance.randrange(8)])
        damaged = chance.choice((data[:at], data[:at] + flipped + data[at + 1 :]))
        (fate,) = recovery.oldest([segment(0, damaged)], UNCLEAN)
        assert fate.kept == segments_07.whole_bytes(damaged)
        assert bool(fate.why) == (fate.lost > 0)


@pytest.mark.parametrize("is_clean", [False, True])
def test_0_7_reads_its_newest_segment(is_clean: bool) -> None:
    data = b"".join(map(messages.oldest, (b"a", b"b", b"c")))
    broken = data[:-1] + b"x"
    segments = [segment(0, data), segment(len(data), broken)]
    found = list(recovery.oldest(segments, LogState(is_clean)))
    assert found[0].what is What.KEPT
    kept = len(data) if is_clean else 2 * len(data) // 3
    assert found[1].kept == kept
    gap = list(recovery.oldest([segments[0], segment(len(data) + 1, data)], LogState(is_clean)))
    assert gap[0].what is What.REFUSED
