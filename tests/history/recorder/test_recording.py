"""What a watcher's batches are as rows of the change."""

from __future__ import annotations

from typing import Any

from zkdash.cluster.changes import row
from zkdash.history.recorder.recording import Recording
from zkdash.history.store import schemas
from zkdash.znode import Batch, Stat, Unreadable, Znode

OFFSET = "/consumers/g/offsets/t/0"
NOW = 5_000


def znode(
    czxid: int, mzxid: int = 0, data: bytes | None = b"x", *, version: int = 0, owner: int = 0, acl: int = 0
) -> Znode:
    mzxid = mzxid or czxid
    size = len(data or b"")
    return Znode.of(data, Stat(czxid, mzxid, czxid * 10, mzxid * 10, version, 0, acl, owner, size, 0, czxid))


def begun(zxid: int = 100, **known: Znode) -> Recording:
    recording = Recording()
    recording.load(Batch({f"/{name}": value for name, value in known.items()}, zxid, whole=True))
    return recording


def take(recording: Recording, *batches: Batch) -> list[dict[str, Any]]:
    for batch in batches:
        recording.add(batch, NOW)
    table = recording.take()
    assert table.schema == schemas.CHANGES
    assert {each["type"] for each in table.to_pylist()} <= row.TYPES
    return list(table.to_pylist())


def short(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("type", "path", "zxid", "zxid_after", "zxid_upto", "op_index", "time", "data", "version")
    return [tuple(each[name] for name in names) for each in rows]


def test_what_was_there_at_first_is_no_change() -> None:
    assert take(begun(a=znode(1))) == []


def test_creates_and_writes_tell_their_zxid_and_removals_its_bounds() -> None:
    recording = begun(a=znode(1), b=znode(2))
    changed = {"/a": znode(1, 103, b"y", version=1), "/b": None, "/c": znode(102)}
    rows = take(recording, Batch(changed, 104))
    assert short(rows) == [
        ("create", "/c", 102, 101, 102, 0, 1020, b"x", 0),
        ("setData", "/a", 103, 102, 103, 0, 1030, b"y", 1),
        ("delete", "/b", None, 100, 104, 0, NOW, None, None),
    ]
    assert {each["source"] for each in rows} == {"watch"}
    assert {each["session"] for each in rows} == {None}


def test_what_was_made_again_went_first() -> None:
    rows = take(begun(a=znode(1)), Batch({"/a": znode(103, owner=7)}, 110))
    assert short(rows) == [
        ("delete", "/a", None, 100, 103, 0, NOW, None, None),
        ("create", "/a", 103, 102, 103, 1, 1030, b"x", 0),
    ]
    assert (rows[1]["ephemeral"], rows[1]["ephemeral_owner"]) == (True, 7)


def test_what_was_written_before_it_was_read_is_a_create_without_data_and_a_write() -> None:
    rows = take(begun(), Batch({"/a": znode(101, 105, b"y", version=3)}, 105))
    assert short(rows) == [
        ("create", "/a", 101, 100, 101, 0, 1010, None, 0),
        ("setData", "/a", 105, 104, 105, 0, 1050, b"y", 3),
    ]


def test_containers_and_znodes_with_a_time_to_live_are_no_ephemerals() -> None:
    made = {"/c": znode(101, owner=row.CONTAINER_OWNER), "/t": znode(102, owner=row.TTL_OWNER + 9)}
    rows = take(begun(), Batch(made, 105))
    assert [(each["type"], each["ephemeral"]) for each in rows] == [
        ("createContainer", False),
        ("createTTL", False),
    ]


def test_changed_access_is_noticed_when_it_is_read() -> None:
    (one,) = take(begun(a=znode(1)), Batch({"/a": znode(1, acl=2)}, 105))
    assert (one["type"], one["zxid"], one["version"], one["data"]) == ("setACL", None, 2, None)


def test_what_cannot_be_read_or_came_and_went_unseen_is_no_change() -> None:
    recording = begun(a=znode(1))
    assert take(recording, Batch({"/a": Unreadable("no"), "/gone": None}, 105)) == []
    assert take(recording, Batch({"/a": znode(1)}, 106)) == []


def test_offsets_are_one_sample_a_take_and_the_last_one_before_they_go_is_kept() -> None:
    recording = Recording()
    recording.load(Batch({OFFSET: znode(1)}, 100, whole=True))
    commits = [Batch({OFFSET: znode(1, 100 + n, b"%d" % n, version=n)}, 100 + n) for n in range(1, 40)]
    (one,) = take(recording, *commits)
    assert (one["zxid"], one["data"], one["version"]) == (139, b"39", 39)
    more = Batch({OFFSET: znode(1, 141, b"41", version=41)}, 141)
    rows = take(recording, more, Batch({OFFSET: None}, 150))
    assert [(each["type"], each["data"], each["zxid_upto"]) for each in rows] == [
        ("setData", b"41", 141),
        ("delete", None, 150),
    ]


def test_what_comes_after_later_transactions_were_told_is_told_with_the_next_ones() -> None:
    recording = Recording()
    recording.load(Batch({OFFSET: znode(1)}, 100, whole=True))
    assert take(recording, Batch({"/x": znode(120)}, 120))
    late = Batch({OFFSET: znode(1, 115, b"late", version=1)}, 125)
    (one,) = take(recording, late)
    assert (one["zxid"], one["zxid_after"], one["zxid_upto"]) == (None, 114, 125)
    assert one["time"] == 1150


def test_a_checkpoint_holds_everything_with_its_bounds() -> None:
    recording = begun(a=znode(1), b=znode(2, 7, None, version=4, owner=9))
    take(recording, Batch({"/c": znode(101)}, 101))
    table = recording.checkpoint(100)
    assert table.schema == schemas.CHECKPOINTS
    rows = {each["path"]: each for each in table.to_pylist()}
    assert set(rows) == {"/a", "/b", "/c"}
    assert {(each["zxid"], each["zxid_upto"]) for each in rows.values()} == {(100, 101)}
    assert (rows["/b"]["data"], rows["/b"]["version"], rows["/b"]["ephemeral_owner"]) == (None, 4, 9)


def test_commits_wait_for_the_take_that_is_to_have_them_and_come_after_what_was_told() -> None:
    recording = Recording()
    recording.load(Batch({"/a": znode(1), OFFSET: znode(2)}, 100, whole=True))
    recording.add(Batch({OFFSET: znode(2, 101, b"1", version=1), "/a": znode(1, 102, version=1)}, 102), NOW)
    assert [each["path"] for each in recording.take(with_offsets=False).to_pylist()] == ["/a"]
    recording.add(Batch({"/a": znode(1, 103, b"y", version=2)}, 103), NOW)
    assert [each["path"] for each in recording.take(with_offsets=False).to_pylist()] == ["/a"]
    ((kind, path, zxid, _, upto, *_),) = short(take(recording))
    assert (kind, path, zxid, upto) == ("setData", OFFSET, None, 104)
    assert len(recording) == 0
