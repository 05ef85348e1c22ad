"""The tree at a moment, from rows made by hand: what a real server cannot be brought to write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.history.writing import put
from zkdash.history.queries import moment

EPOCH = 1 << 32


def change(zxid: int, kind: str, path: str | None, op_index: int = 0, **fields: Any) -> dict[str, Any]:
    known = {"zxid": zxid, "zxid_after": zxid - 1, "zxid_upto": zxid, "op_index": op_index, "type": kind}
    return {**known, "source": "txnlog", "time": zxid * 10, "path": path, "session": 7, **fields}


def create(zxid: int, path: str, data: bytes = b"", *, owner: int = 0, op_index: int = 0) -> dict[str, Any]:
    told = {"data": data, "version": 0, "ephemeral": owner > 0, "ephemeral_owner": owner}
    return change(zxid, "create", path, op_index, **told)


def znode(path: str, zxid: int, upto: int | None, mzxid: int = 1, **fields: Any) -> dict[str, Any]:
    zeros = dict.fromkeys(("version", "cversion", "aversion", "ephemeral_owner", "data_length"), 0)
    stamps = {"czxid": 1, "mzxid": mzxid, "pzxid": 1, "ctime": 1, "mtime": 1, "num_children": 0}
    return {"path": path, "zxid": zxid, "zxid_upto": upto, **zeros, **stamps, **fields}


@pytest.fixture
def tables(tmp_path: Path) -> Callable[..., Path]:
    def write(
        changes: list[dict[str, Any]], covered: list[tuple[int, int]], znodes: Sequence[dict[str, Any]] = ()
    ) -> Path:
        told = {
            "changes": changes,
            "coverage": [{"zxid_from": first, "zxid_upto": last} for first, last in covered],
            "znodes_checkpoint": list(znodes),
        }
        for name, rows in told.items():
            put(tmp_path, name, rows)
        return tmp_path

    return write


def test_a_znode_that_was_made_changed_and_made_again_in_one_multi_is_the_last_one(
    tables: Callable[..., Path],
) -> None:
    changes = [
        create(1, "/a", b"1"),
        change(2, "setData", "/a", data=b"2", version=1),
        change(3, "delete", "/a", 0),
        create(3, "/a", b"3", op_index=1),
        create(3, "/a/b", b"b", op_index=2),
        change(3, "setData", "/a", 3, data=b"4", version=1),
        change(4, "setData", "/a/b", data=None, version=1),
    ]
    directory = tables(changes, [(1, 4)])
    found = moment.at(directory, 2).znodes["/a"]
    assert (found.data, found.version, found.czxid, found.mzxid) == (b"2", 1, 1, 2)
    found = moment.at(directory, 3).znodes["/a"]
    assert (found.data, found.version, found.czxid, found.mzxid) == (b"4", 1, 3, 3)
    assert (found.num_children, found.stat.cversion, found.stat.pzxid, found.mtime) == (1, 1, 3, 30)
    assert not moment.at(directory, 4).znodes["/a/b"].data


def test_a_fuzzy_checkpoint_serves_only_moments_that_it_cannot_be_ahead_of(
    tables: Callable[..., Path],
) -> None:
    changes = [create(1, "/a"), create(11, "/b"), change(12, "delete", "/a"), create(15, "/c")]
    znodes = [znode("/a", 5, 6), znode("/b", 10, 14), znode("/x", 13, None)]
    directory = tables(changes, [(1, 20)], znodes)
    assert set(moment.at(directory, 6).znodes) == {"/a"}
    assert moment.at(directory, 11).checkpoint == 5
    assert set(moment.at(directory, 11).znodes) == {"/a", "/b"}
    assert moment.at(directory, 14).checkpoint == 10
    assert set(moment.at(directory, 15).znodes) == {"/b", "/c"}


def test_a_moment_behind_a_gap_is_refused_and_one_behind_a_later_checkpoint_is_not(
    tables: Callable[..., Path],
) -> None:
    directory = tables([create(1, "/a"), create(8, "/b")], [(1, 5), (8, 20)], [znode("/a", 12, 12)])
    assert set(moment.at(directory, 5).znodes) == {"/a"}
    for zxid in (7, 9):
        with pytest.raises(
            moment.MomentError, match=r"from the first one on, .* without a gap up to 0x5 only"
        ):
            moment.at(directory, zxid)
    assert set(moment.at(directory, 15).znodes) == {"/a"}


def test_the_first_transaction_of_a_later_epoch_follows_the_last_of_the_one_before(
    tables: Callable[..., Path],
) -> None:
    changes = [create(1, "/a"), create(EPOCH + 1, "/b"), create(3 * EPOCH + 5, "/c")]
    directory = tables(changes, [(1, 3), (EPOCH + 1, EPOCH + 4), (3 * EPOCH + 5, 3 * EPOCH + 9)])
    assert set(moment.at(directory, EPOCH + 2).znodes) == {"/a", "/b"}
    with pytest.raises(moment.MomentError, match="up to 0x100000004 only"):
        moment.at(directory, 3 * EPOCH + 6)


def test_ephemerals_of_a_session_that_closed_are_gone_even_if_the_log_does_not_tell_them(
    tables: Callable[..., Path],
) -> None:
    changes = [
        create(1, "/mine", owner=7),
        create(2, "/kept", owner=8),
        change(3, "closeSession", None, removed=None),
        create(4, "/mine", owner=8),
    ]
    directory = tables(changes, [(1, 5)])
    assert set(moment.at(directory, 2).znodes) == {"/mine", "/kept"}
    assert set(moment.at(directory, 3).znodes) == {"/kept"}
    assert set(moment.at(directory, 4).znodes) == {"/mine", "/kept"}


def test_a_moment_becomes_a_clusters_state(tables: Callable[..., Path]) -> None:
    directory = tables([create(1, "/"), create(2, "/controller_epoch", b"5")], [(1, 2)])
    state = moment.at(directory, 2).state()
    assert state.loaded
    assert state.zxid == 2
    assert state.controller_epoch is not None
    assert state.controller_epoch.value == 5
