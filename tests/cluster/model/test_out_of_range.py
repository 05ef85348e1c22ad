"""Where a consumer goes on whose offset its log does not hold."""

from __future__ import annotations

from zkdash.cluster.model.brokers import out_of_range
from zkdash.cluster.model.brokers.out_of_range import OutOfRange, Reset


def outside(offset: int, partition: str = "0") -> OutOfRange:
    """An offset on a log of the offsets 100 to 149."""
    return OutOfRange("orders", partition, offset, 100, 150, "Kafka")


def test_before_the_start_what_was_deleted_is_lost_and_latest_skips_the_whole_log_beside() -> None:
    assert outside(70).earliest == Reset(100, lost=30)
    assert outside(70).latest == Reset(150, lost=30, skipped=50)


def test_behind_the_end_earliest_reads_the_whole_log_again_and_latest_nothing() -> None:
    assert outside(155).earliest == Reset(100, again=50)
    assert outside(155).latest == Reset(150)


def test_the_furthest_are_kept_and_no_more_than_so_many() -> None:
    many = [outside(150 + number, str(number)) for number in range(1, 3 * out_of_range.MOST)]
    kept = out_of_range.furthest([outside(1, "start"), *many])
    assert len(kept) == out_of_range.MOST
    assert [entry.distance for entry in kept[:2]] == [149, 148]
