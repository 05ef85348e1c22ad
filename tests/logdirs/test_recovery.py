"""`log recover --dry-run` says what a real broker cuts when it is started on the same files."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests import full
from tests.logdirs import written
from tests.logdirs.conftest import COPIES
from tests.logdirs.written import Written
from zkdash.logdirs import listing

pytestmark = pytest.mark.kafka

ROUNDS = full.pick(1, 5)
_BESIDE = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
_UNTRIED = ("refused", "split")  # by which a start ends, or is no cut


def predicted(path: Path, release: str) -> dict[str, dict[str, Any]]:
    """The fate of each segment, by its name."""
    out = StringIO()
    options = ["--dry-run", "--json", "--release", release, "--index-interval-bytes", str(written.INTERVAL)]
    with contextlib.suppress(CommandError):
        call_command("log", "recover", str(path), *options, stdout=out, stderr=StringIO())
    rows = map(json.loads, out.getvalue().splitlines())
    return {row["segment"]: row for row in rows if "segment" in row}


def damage(directory: Path, chance: random.Random) -> str:
    """Cut a segment, flip a bit of one, overwrite some bytes, or take an index away."""
    paths = sorted(directory.glob("*.log"))
    path = chance.choice(paths)
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data))
    how = chance.choice(("cut", "flip", "flip", "overwrite", "append", "zeros", "no index"))
    if how == "cut":
        del data[at:]
    elif how == "flip":
        data[at] ^= 1 << chance.randrange(8)
    elif how == "overwrite":
        data[at : at + 20] = chance.randbytes(len(data[at : at + 20]))
    elif how == "append":
        data += chance.randbytes(chance.randrange(1, 60))
    elif how == "zeros":
        data += bytes(chance.randrange(1, 600))
    else:
        path.with_suffix(".index").unlink()
    path.write_bytes(data)
    return f"{how} at {at} of {path.name}"


@pytest.mark.parametrize("turn", range(ROUNDS))
def test_a_damaged_copy_is_cut_where_the_dry_run_says(left: Written, turn: int) -> None:
    chance = random.Random(f"{left.release}-{turn}")  # noqa: S311 - damage, no secret
    (left.own / listing.CLEAN).unlink(missing_ok=True)
    # without a recovery point every segment is read anew; with one those from there on
    point = sorted(listing.base_offset(path) for path in left.mixed.glob("*.log"))[chance.choice((0, 0, 1))]
    points = left.own / listing.RECOVERY_POINTS
    lines = [line for line in points.read_text().splitlines()[2:] if not line.startswith(written.DAMAGED)]
    lines += [f"{written.DAMAGED} {number} {point}" for number in range(COPIES)]
    points.write_text("\n".join(["0", str(len(lines)), *lines, ""]))
    wanted, how = {}, {}
    for number in range(COPIES):
        directory = left.own / f"{written.DAMAGED}-{number}"
        while True:
            copy(left.mixed, directory)
            how[number] = damage(directory, chance)
            wanted[number] = predicted(directory, left.release)
            if not any(row["fate"] in _UNTRIED for row in wanted[number].values()):
                break
    left.broker.start()
    try:
        found = {
            number: {
                path.name: path.stat().st_size
                for path in (left.own / f"{written.DAMAGED}-{number}").glob("*.log")
            }
            for number in range(COPIES)
        }
    finally:
        left.broker.stop()
    for number, rows in wanted.items():
        kept = {name: row["kept"] for name, row in rows.items() if row["fate"] != "deleted"}
        assert found[number] == kept, (how[number], rows)
    assert any(row["lost"] for rows in wanted.values() for row in rows.values())


def test_after_a_kill_the_newest_segment_is_read_anew_and_stays(left: Written) -> None:
    left.broker.start()
    left.broker.die()
    directory = left.own / left.mixed.name
    rows = predicted(directory, left.release)
    assert [row["fate"] for row in rows.values()] == ["kept"] * (len(rows) - 1) + ["read"]
    before = {path.name: path.stat().st_size for path in directory.glob("*.log")}
    left.broker.start()
    try:
        assert {path.name: path.stat().st_size for path in directory.glob("*.log")} == before
        assert f"Recovering unflushed segment {int(max(before)[:20])}" in left.broker.log.read_text()
    finally:
        left.broker.stop()


def copy(log: Path, directory: Path) -> None:
    """Put a log's files in place of a partition's; what names the topic stays."""
    for path in directory.iterdir():
        if path.name != "partition.metadata":
            path.unlink()
    for path in log.iterdir():
        if path.suffix in _BESIDE or path.name == listing.EPOCHS:
            shutil.copy(path, directory)
