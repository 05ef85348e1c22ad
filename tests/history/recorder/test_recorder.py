"""The recorder beside a real ZooKeeper: what it writes, what it says of what it could not, and its gaps."""

from __future__ import annotations

import contextlib
import json
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import immutables
import pyarrow as pa
import pytest
from kazoo.client import KazooClient

from tests.conftest import Chroot
from tests.history.writing import MANIFESTS, held
from tests.narrowing import sure
from tests.waiting import wait_for
from tests.zk.proxy import Proxy
from zkdash.broker.samples import LogEnds, Samples, Unknown
from zkdash.history.places.location import Location
from zkdash.history.queries import moment
from zkdash.history.recorder import inbox, status
from zkdash.history.recorder import recorder as recording
from zkdash.history.recorder.recorder import Recorder
from zkdash.history.recorder.rounds import Rounds
from zkdash.history.store import changelog, conversion, schemas, watching
from zkdash.history.store.delta import Table, TableError
from zkdash.history.store.tables import Tables
from zkdash.kafka import paths, secrets
from zkdash.live import snapshot_registry
from zkdash.live.watching.watcher import Watcher
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.znode import Batch, Stat, Znode

CANARY: Final = "canary-41d7"
STATE = "/brokers/topics/orders/partitions/0/state"
OFFSET = "/consumers/billing/offsets/orders/0"


def rows(directory: Location, name: str = "changes") -> list[dict[str, Any]]:
    return held(directory, name)


@contextlib.contextmanager
def recorded(directory: Path, address: str, **arguments: Any) -> Iterator[Recorder]:
    """A watcher of `address` with a recorder that writes ten times a second."""
    servers, chroot = parse_address(address)
    config = ClusterConfig("east", servers, chroot, session_timeout_s=20.0, ask_brokers=False)
    recorder = Recorder("east", directory, **{"flush_s": 0.1, **arguments})
    rounds = Rounds((recorder,), every_s=0.05)
    watcher = Watcher(config, notify=lambda *_: None, sinks=(recorder,))
    rounds.start()
    watcher.start()
    try:
        yield recorder
    finally:
        watcher.stop()
        rounds.stop()
        snapshot_registry.clear()


def written(directory: Location, path: str, data: bytes) -> Callable[[], bool]:
    return lambda: any(row["path"] == path and row["data"] == data for row in rows(directory))


def begun(directory: Path) -> None:
    wait_for(lambda: rows(directory, watching.NAME))


def checkpoint(directory: Path) -> list[dict[str, Any]]:
    """The tree as it was when the recorder had begun; the rows of it."""
    begun(directory)
    return wait_for(lambda: rows(directory, "znodes_checkpoint"))


def plant(client: KazooClient) -> None:
    client.create(STATE, b'{"leader":1,"isr":[1],"version":1}', makepath=True)
    client.create(OFFSET, b"0", makepath=True)


@pytest.mark.zk
def test_what_happens_is_written_with_its_zxid_and_a_checkpoint_before_it(
    chroot: Chroot, tmp_path: Path
) -> None:
    client = chroot.client
    plant(client)
    with recorded(tmp_path, chroot.address):
        begun(tmp_path)
        client.set(STATE, b"1")
        client.create("/controller", b"me", ephemeral=True)
        client.delete("/controller")
        client.create("/consumers/billing/ids/one", b"1", makepath=True)
        wait_for(written(tmp_path, "/consumers/billing/ids/one", b"1"))
    znodes = {row["path"]: row for row in rows(tmp_path, "znodes_checkpoint")}
    assert znodes[STATE]["data"] == b'{"leader":1,"isr":[1],"version":1}'
    found = rows(tmp_path)
    (one,) = [row for row in found if row["path"] == STATE]
    _, stat = client.get(STATE)
    told = one["type"], one["zxid"], one["time"], one["version"], one["source"]
    assert told == ("setData", stat.mzxid, stat.mtime, 1, "watch")
    assert {row["type"] for row in found if row["path"] == "/controller"} <= {"create", "delete"}
    assert watching.gaps(Table(tmp_path / watching.NAME)) == []
    (stretch,) = watching.stretches(Table(tmp_path / watching.NAME))
    assert stretch.first <= stat.mzxid <= stretch.last


@pytest.mark.zk
def test_offsets_are_one_sample_a_flush_however_many_commits(chroot: Chroot, tmp_path: Path) -> None:
    plant(chroot.client)
    with recorded(tmp_path, chroot.address, flush_s=60.0):
        wait_for(lambda: rows(tmp_path, watching.NAME))
        for number in range(1, 300):
            chroot.client.set(OFFSET, b"%d" % number)
        wait_for(lambda: board_data(OFFSET) == 299)
    (one,) = [row for row in rows(tmp_path) if row["path"] == OFFSET]
    assert (one["data"], one["version"]) == (b"299", 299)


def board_data(path: str) -> int | None:
    found = snapshot_registry.current("east")
    group = found.state.groups.get("billing") if found else None
    offset = group.offsets.get("orders", {}).get("0") if group else None
    return None if offset is None else sure(int, offset.value)


@pytest.mark.zk
def test_a_lost_connection_is_a_marked_gap_and_what_differed_afterwards_is_there(
    chroot: Chroot, tmp_path: Path
) -> None:
    client = chroot.client
    plant(client)
    with Proxy(chroot.server.port) as proxy, recorded(tmp_path, f"127.0.0.1:{proxy.port}{chroot.path}"):
        begun(tmp_path)
        client.set(STATE, b"before")
        wait_for(written(tmp_path, STATE, b"before"))
        proxy.cut()
        for number in range(5):
            client.set(STATE, b"lost %d" % number)
        client.create("/consumers/lost", b"", makepath=True)
        client.delete("/consumers/lost")
        client.set(STATE, b"after")
        proxy.restore()
        wait_for(written(tmp_path, STATE, b"after"))
        client.set(STATE, b"more")
        wait_for(written(tmp_path, STATE, b"more"))
    table = Table(tmp_path / watching.NAME)
    (gap,) = watching.gaps(table)
    assert (gap.why, gap.is_caught_up) == ("the connection was lost", True)
    assert gap.from_ms <= gap.to_ms
    lost = [row for row in rows(tmp_path) if row["data"] == b"after"]
    assert [gap.zxid_after < row["zxid"] <= gap.zxid_upto for row in lost] == [True]
    assert not [row for row in rows(tmp_path) if row["data"] == b"lost 2" or row["path"] == "/consumers/lost"]
    assert len(watching.stretches(table)) == 1
    with pytest.raises(moment.MomentError, match="the connection was lost"):
        moment.at(tmp_path, gap.zxid_upto - 1)


@pytest.mark.zk
def test_between_two_recorders_there_is_a_gap_and_the_second_begins_with_a_checkpoint(
    chroot: Chroot, tmp_path: Path
) -> None:
    plant(chroot.client)
    with recorded(tmp_path, chroot.address):
        begun(tmp_path)
        chroot.client.set(STATE, b"one")
        wait_for(written(tmp_path, STATE, b"one"))
    chroot.client.set(STATE, b"unseen")
    with recorded(tmp_path, chroot.address):
        wait_for(lambda: len({row["zxid"] for row in rows(tmp_path, "znodes_checkpoint")}) == 2)
        chroot.client.set(STATE, b"two")
        wait_for(written(tmp_path, STATE, b"two"))
    (gap,) = watching.gaps(Table(tmp_path / watching.NAME))
    assert (gap.why, gap.is_caught_up) == ("the recorder was not running", False)
    assert len(watching.stretches(Table(tmp_path / watching.NAME))) == 2
    assert [row["data"] for row in rows(tmp_path) if row["path"] == STATE] == [b"one", b"two"]


@pytest.mark.zk
def test_the_tree_of_a_recorded_moment_is_what_a_client_read_then(chroot: Chroot, tmp_path: Path) -> None:
    client = chroot.client
    plant(client)
    moments = []
    with recorded(tmp_path, chroot.address):
        begun(tmp_path)
        for number in range(4):
            client.set(STATE, b"%d" % number)
            client.set(OFFSET, b"%d" % number)
            client.create(f"/consumers/g{number}/ids/m", b"", makepath=True)
            if number:
                client.delete(f"/consumers/g{number - 1}/ids/m")
            last = client.create(f"/admin/delete_topics/t{number}", b"", makepath=True)
            wait_for(written(tmp_path, last, b""))
            wait_for(written(tmp_path, OFFSET, b"%d" % number))
            moments.append((client.exists(last).czxid, tree(client)))
    for zxid, wanted in moments:
        found = moment.at(tmp_path, zxid)
        assert {path: znode.data for path, znode in found.znodes.items()} == wanted
    with pytest.raises(moment.MomentError):
        moment.at(tmp_path, moments[-1][0] + 1000)


@pytest.mark.zk
def test_no_secret_is_in_any_byte_that_the_recorder_wrote(chroot: Chroot, tmp_path: Path) -> None:
    secret = json.dumps({"version": 1, "config": {"SCRAM-SHA-256": CANARY, "producer_byte_rate": "1"}})
    client = chroot.client
    plant(client)
    client.create("/config/users/alice", secret.encode(), makepath=True)
    with recorded(tmp_path, chroot.address):
        begun(tmp_path)
        client.set("/config/users/alice", secret.encode())
        client.create("/config/brokers/1", secret.encode(), makepath=True)
        client.create("/delegation_token/tokens/one", f"token {CANARY}".encode(), makepath=True)
        client.set(STATE, b"shown")
        wait_for(written(tmp_path, STATE, b"shown"))
    values = [row["data"] for name in ("changes", "znodes_checkpoint") for row in rows(tmp_path, name)]
    assert b"shown" in values
    assert CANARY not in repr(values)
    assert len([row for row in rows(tmp_path) if row["path"] == "/config/users/alice"]) == 1
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or CANARY.encode() not in path.read_bytes()
    assert secrets.redact("/config/users/alice", secret.encode()) in values


# Without a ZooKeeper: batches as a watcher hands them over.


def znode(czxid: int, mzxid: int, data: bytes) -> Znode:
    return Znode.of(data, Stat(czxid, mzxid, 1, 1, mzxid - czxid, 0, 0, 0, len(data), 0, czxid))


@contextlib.contextmanager
def alone(directory: Location, **arguments: Any) -> Iterator[Recorder]:
    recorder = Recorder("east", directory, **{"flush_s": 0.02, **arguments})
    rounds = Rounds((recorder,), every_s=0.02)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "_OFFSETS_S", 0.1)  # none come late here
        rounds.start()
        recorder.batch(Batch({"/a": znode(1, 1, b"0")}, 100, whole=True))
        try:
            yield recorder
        finally:
            rounds.stop()


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """The kernel lets no file of this process grow: what is written fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def until_tried_again(recorder: Recorder) -> None:
    """Until one more write has failed."""
    tried = recorder.status.seen_ms
    wait_for(lambda: recorder.status.seen_ms != tried)


@pytest.mark.parametrize(
    "told",
    [
        "Error writing bytes to file. Detail: [errno 27] File too large",
        "Generic LocalFileSystem error: Unable to copy data to file: File too large (os error 27)",
    ],
    ids=["Arrow", "a commit"],
)
def test_a_full_disk_is_one_reason_whoever_tells_of_it(told: str) -> None:
    assert recording._reason(OSError(told)) == "File too large"


def test_what_a_full_disk_refused_is_written_once_there_is_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with alone(tmp_path) as recorder:
        wait_for(lambda: recorder.status.wrote_ms)
        with full_disk():
            recorder.batch(Batch({"/a": znode(1, 101, b"1")}, 101))
            wait_for(lambda: recorder.status.sentence)
            recorder.batch(Batch({"/a": znode(1, 102, b"2")}, 102))
            until_tried_again(recorder)
            until_tried_again(recorder)
            # also where a commit fails first, and then a file
            assert [record.levelname for record in caplog.records if "Recording" in record.message] == [
                "WARNING"
            ]
            told = status.read("east", tmp_path, 0)
            assert told is not None
            assert f"cannot be written to {tmp_path}: File too large" in told.sentence
        wait_for(lambda: not recorder.status.sentence)
        wait_for(lambda: len(rows(tmp_path)) == 2)
    assert [row["data"] for row in rows(tmp_path)] == [b"1", b"2"]
    assert watching.gaps(Table(tmp_path / watching.NAME)) == []


def test_nothing_is_written_beside_tables_of_an_earlier_release_until_they_are_converted(
    tmp_path: Path,
) -> None:
    shop = Path(shutil.copytree(MANIFESTS / "shop", tmp_path / "shop"))
    before = 14  # changes that the earlier release wrote
    with alone(shop) as recorder:
        wait_for(lambda: "run `zkdash pipeline convert --cluster shop`" in recorder.status.sentence)
    assert recorder.status.wrote_ms is None
    conversion.convert(shop)
    with alone(shop) as recorder:
        wait_for(lambda: recorder.status.wrote_ms)
        assert recorder.status.sentence == ""
        recorder.batch(Batch({"/a": znode(1, 101, b"1")}, 101))
        wait_for(lambda: len(rows(shop)) == before + 1)
    assert sure(int, Table(shop / "changes").read().position(changelog.STREAM)) > 2


def test_more_than_may_wait_for_a_full_disk_is_a_marked_gap(tmp_path: Path) -> None:
    with alone(tmp_path, most_rows=10) as recorder:
        wait_for(lambda: recorder.status.wrote_ms)
        with full_disk():
            recorder.batch(Batch({"/a": znode(1, 101, b"1")}, 101))
            wait_for(lambda: recorder.status.sentence)
            many = range(102, 140)
            recorder.batch(Batch({f"/n{zxid}": znode(zxid, zxid, b"") for zxid in many}, 139))
            until_tried_again(recorder)  # it may have begun before
            until_tried_again(recorder)
        wait_for(lambda: not recorder.status.sentence)
        recorder.batch(Batch({"/last": znode(200, 200, b"last")}, 200))
        wait_for(written(tmp_path, "/last", b"last"))
        wait_for(lambda: len(rows(tmp_path, "znodes_checkpoint")) > 1)
    (gap,) = watching.gaps(Table(tmp_path / watching.NAME))
    assert (gap.why, gap.zxid_upto) == ("it could not be written", 139)
    checkpoint = [row["path"] for row in rows(tmp_path, "znodes_checkpoint") if row["zxid"] >= 139]
    assert {f"/n{number}" for number in range(102, 140)} < set(checkpoint)


def test_one_process_records_and_another_takes_over_when_it_ends(tmp_path: Path) -> None:
    with alone(tmp_path) as second:
        with alone(tmp_path) as first:
            wait_for(lambda: first.status.wrote_ms or second.status.wrote_ms)
            waiting, working = (first, second) if second.status.wrote_ms else (second, first)
            wait_for(lambda: waiting.status.sentence == "another process records this cluster")
            assert waiting.status.wrote_ms is None
        if working is first:
            wait_for(lambda: second.status.wrote_ms)
            assert second.status.sentence == ""


def test_log_ends_are_sampled_once_each_time_and_unknown_ones_are_not(tmp_path: Path) -> None:
    ends: dict[str, dict[int, LogEnds | Unknown]] = {
        "t": {0: LogEnds(5, 50, 1000.0), 1: Unknown("nobody leads")}
    }
    with alone(tmp_path) as recorder:
        recorder.tick(Samples(ends=immutables.Map(ends)), 1.0)
        wait_for(lambda: rows(tmp_path, "log_ends"))
        wrote = recorder.status.wrote_ms
        wait_for(lambda: recorder.status.wrote_ms != wrote)
        moved = {"t": ends["t"] | {0: LogEnds(5, 70, 1060.0)}}
        recorder.tick(Samples(ends=immutables.Map(moved)), 61.0)
        wait_for(lambda: len(rows(tmp_path, "log_ends")) == 2)
    found = [tuple(row.values()) for row in rows(tmp_path, "log_ends")]
    assert found == [("t", "0", 1_000_000, 5, 50), ("t", "0", 1_060_000, 5, 70)]


def test_a_flush_that_was_cut_short_is_in_each_table_once(tmp_path: Path) -> None:
    def flush(number: int) -> changelog.Flush:
        told = {"zxid_from": 1, "zxid_upto": 2, "from_ms": 1, "to_ms": 2, "why": None, "is_caught_up": False}
        watched = pa.Table.from_pylist([told], schema=schemas.WATCHED)
        changes = pa.Table.from_pylist([{"path": "/a", "zxid": 2}], schema=schemas.CHANGES)
        return changelog.Flush(number, {"changes": changes, watching.NAME: watched})

    log = changelog.Log(tmp_path)
    log.open()
    first = flush(log.next())
    (tmp_path / watching.NAME).write_text("a file where the last table should be")
    with pytest.raises((OSError, TableError), match=r"directory"):
        log.write(first)
    (tmp_path / watching.NAME).unlink()
    log.write(first)
    log.write(first)
    again = changelog.Log(tmp_path)
    again.open()
    for _ in range(70):
        again.write(flush(again.next()))
    assert (len(rows(tmp_path)), len(rows(tmp_path, watching.NAME))) == (71, 71)
    assert len(Table(tmp_path / "changes").read().files) < 20
    with Tables(tmp_path, ("changes", watching.NAME)) as opened:
        assert opened.rows("SELECT count(*) AS n FROM changes") == [{"n": 71}]


def test_a_recorder_that_fell_behind_keeps_the_last_of_each_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "MOST_WAITING", 3)
    waiting = inbox.Inbox(lambda: 5.0)
    for number in range(1, 9):
        waiting.put(Batch({"/a": znode(1, number, b"%d" % number), f"/{number}": None}, number))
    (merged, *rest) = waiting.take()
    assert (merged.is_merged, merged.batch.whole) == (True, True)
    assert sum(len(each.batch.changed) for each in (merged, *rest)) <= 9 + 4
    assert waiting.take() == []


def test_a_recorder_that_is_not_heard_of_is_told_as_silent(tmp_path: Path) -> None:
    assert status.read("east", tmp_path, 0) is None
    status.keep(tmp_path, status.Status("east", 1, seen_ms=1_000, wrote_ms=1_000, rows=3))
    heard = status.read("east", tmp_path, 2_000)
    silent = status.read("east", tmp_path, 10_000_000)
    assert heard is not None
    assert silent is not None
    assert heard.sentence == ""
    assert silent.sentence.startswith("nothing records")


def tree(client: KazooClient) -> dict[str, bytes]:
    """What a client reads below Kafka's roots."""
    found: dict[str, bytes] = {}

    def walk(path: str) -> None:
        found[path] = client.get(path)[0]
        for name in client.get_children(path):
            walk(f"{path}/{name}")

    for root in paths.ROOTS:
        if client.exists(root):
            walk(root)
    return found
