"""What `verify` says of a log whose files vanish while it looks at them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from zkdash.formats.inspection.verifying import Finding
from zkdash.logdirs import listing, verification

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
