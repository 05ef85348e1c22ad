"""Sessions that end twice, in one derivation and over several."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.test_sources import write
from tests.pipeline.transforms.living import CHROOT, rows
from zkdash.formats.txnlog.rows import CLOSE_SESSION, CREATE, CREATE_SESSION, Row

pytestmark = pytest.mark.spark

MIDNIGHT = 1_795_000_000_000 // 86_400_000 * 86_400_000
CLOSED, AGAIN = MIDNIGHT - 1_000, MIDNIGHT + 4_000
ENDS, LASTS = 0x1001, 0x1002


def born(zxid: int, session: int) -> list[Row]:
    return [Row(session, 1, zxid, MIDNIGHT - 60_000, 0, CREATE_SESSION, timeout_ms=6_000)]


def made(zxid: int, session: int, time: int, path: str) -> list[Row]:
    return [
        Row(session, 1, zxid, time, 0, CREATE, path=path, data=b"", acl="world:anyone:31", ephemeral=True)
    ]


def closed(zxid: int, session: int, time: int) -> list[Row]:
    """As a server before 3.6 writes it: what went with it stands nowhere."""
    return [Row(session, 1, zxid, time, 0, CLOSE_SESSION)]


@pytest.mark.parametrize("are_apart", [False, True], ids=["at once", "one after the other"])
def test_a_session_that_is_closed_while_it_expires_is_one_and_ended_when_it_was_closed_first(
    bring: Callable[[Path, Path], Any], tmp_path: Path, are_apart: bool
) -> None:
    files, root = tmp_path / "files", tmp_path / "history"
    write(
        files,
        born(1, ENDS),
        born(2, LASTS),
        made(3, ENDS, CLOSED - 10, f"{CHROOT}/a"),
        closed(4, ENDS, CLOSED),
    )
    if are_apart:
        bring(files, root)
    write(files, made(5, LASTS, AGAIN - 10, f"{CHROOT}/b"), closed(6, ENDS, AGAIN))
    bring(files, root)
    found = {
        row["session"]: (row["to_ms"], row["ephemerals"], row["writes"]) for row in rows(root, "sessions")
    }
    assert found == {ENDS: (CLOSED, 1, 1), LASTS: (None, 1, 1)}
    assert len(rows(root, "sessions")) == 2
