"""What samples remember from one answer to the next."""

from __future__ import annotations

import msgspec

from zkdash.broker.samples import Description, UnknownDescription, described_after

BUSY = Description(1, "Stable", "consumer", "range", (), 100.0)


def empty(at: float) -> Description:
    return msgspec.structs.replace(BUSY, state="Empty", sampled_at=at)


def emptied(description: Description | UnknownDescription) -> tuple[float | None, float] | None:
    assert isinstance(description, Description)
    return description.emptied


def test_a_group_lost_its_last_member_between_the_last_answer_with_one_and_the_first_without() -> None:
    first = described_after(BUSY, empty(160.0))
    assert emptied(first) == (100.0, 160.0)
    assert emptied(described_after(first, empty(220.0))) == (100.0, 160.0)
    assert emptied(described_after(first, msgspec.structs.replace(BUSY, sampled_at=230.0))) is None


def test_of_a_group_that_was_empty_when_it_was_first_asked_only_the_latest_moment_is_known() -> None:
    assert emptied(described_after(None, empty(160.0))) == (None, 160.0)
    assert emptied(described_after(UnknownDescription("not sampled yet"), empty(160.0))) == (None, 160.0)


def test_what_was_known_outlasts_a_coordinator_that_cannot_tell() -> None:
    unknown = described_after(
        described_after(BUSY, empty(160.0)), "broker 1: it still loads the group's commits"
    )
    assert isinstance(unknown, UnknownDescription)
    assert emptied(described_after(unknown, empty(300.0))) == (100.0, 160.0)
