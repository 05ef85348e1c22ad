"""What `verify` says of a log whose files vanish while it looks at them, or are not what a broker writes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from zkdash.formats.inspection.index_rules import Settings
from zkdash.formats.inspection.verifying import Finding
from zkdash.logdirs import listing, recovering, verification

SEGMENTS = Path(__file__).resolve().parents[1] / "fixtures" / "segments"


@pytest.mark.parametrize(
    ("release", "name"),
    [("0.7.2", "orders-0"), ("3.9.1", "clicks-2")],
)
def test_a_segment_that_vanishes_is_a_finding_and_ends_nothing(
    tmp_path: Path, release: str, name: str
) -> None:
    directory = tmp_path / name
    shutil.copytree(SEGMENTS / release / "broker-1" / name, directory)
    (log,) = listing.logs(directory)
    log.segments[0].unlink()
    findings = [
        each.problem.reason
        for each in verification.verify(log, listing.noted(tmp_path))
        if isinstance(each, Finding)
    ]
    assert [reason for reason in findings if reason.startswith("the file is gone")] != []


def _copied(tmp_path: Path) -> listing.Log:
    shutil.copytree(SEGMENTS / "3.9.1" / "broker-1" / "clicks-2", tmp_path / "clicks-2")
    return listing.logs(tmp_path / "clicks-2")[0]


def _findings(log: listing.Log) -> list[Finding]:
    steps = verification.verify(log, listing.noted(log.directory.parent))
    return [step for step in steps if isinstance(step, Finding)]


def test_a_file_that_only_ends_as_snapshots_do_is_passed_over(tmp_path: Path) -> None:
    log = _copied(tmp_path)
    before = _findings(log)
    (log.directory / "before-the-move.snapshot").write_bytes(b"a copy of somebody's")
    assert _findings(log) == before
    settings = Settings(listing.guessed_release(log))
    assert [*recovering.fates(log, listing.noted(tmp_path), settings, is_clean=False)]


def test_what_is_not_read_of_a_large_file_is_a_finding_and_zeros_behind_an_index_are_none(
    tmp_path: Path,
) -> None:
    log = _copied(tmp_path)
    times = log.segments[0].with_suffix(".timeindex")
    before = _findings(log)
    with times.open("r+b") as file:
        file.truncate(listing.LARGEST_BESIDE + 120)  # as a broker allocates it ahead
    assert _findings(log) == before
    with times.open("r+b") as file:
        file.seek(listing.LARGEST_BESIDE)
        file.write((1).to_bytes(8, "big") + (1).to_bytes(4, "big"))
    (left,) = [each for each in _findings(log) if each not in before]
    assert left.file == "clicks-2/00000000000000000000.timeindex"
    assert left.problem.offset == listing.LARGEST_BESIDE
    assert "those from here on are not looked at" in left.problem.reason
    (tmp_path / listing.HIGH_WATERMARKS).write_bytes(b"0\n1\nclicks 2 1\n" * 6_000_000)
    ((name, problem),) = listing.noted(tmp_path).problems
    assert (name, problem.offset) == (listing.HIGH_WATERMARKS, listing.LARGEST_BESIDE)
