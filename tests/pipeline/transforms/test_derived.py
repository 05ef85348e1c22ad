"""A real ZooKeeper's files as derived tables: what happened, by a plain reading of the same files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deltalake
import pytest

from tests.pipeline.test_sources import a_create, a_set, write
from tests.pipeline.transforms import oracle
from tests.pipeline.transforms.living import CHROOT, Lived, ordered, rows
from tests.pipeline.writes import file_zxid
from zkdash.cluster.changes.row import LOGGED
from zkdash.demo.zookeeper.server import Server
from zkdash.formats.txnlog import rows as txn
from zkdash.history.store import derived, schemas
from zkdash.history.store.delta import File, Table
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import Kind
from zkdash.pipeline.derivation import inputs
from zkdash.pipeline.storage import day_partitions

pytestmark = [pytest.mark.spark, pytest.mark.zk]


@pytest.fixture(scope="session")
def told(lived: Lived) -> list[txn.Row]:
    return oracle.history(lived.stages[-1], CHROOT)


def test_every_column_is_there_and_no_other(whole: Path) -> None:
    for name, schema in derived.TABLES.items():
        for row in rows(whole, name)[:1]:
            assert list(row) == schema.names, name


def test_intervals_are_the_states_that_partitions_had(whole: Path, told: list[txn.Row]) -> None:
    names = ("topic", "partition", "leader", "isr", "replicas", "from_zxid", "to_zxid", "from_ms", "to_ms")
    found = rows(whole, "partition_intervals")
    assert sorted((tuple(row[name] for name in names) for row in found), key=str) == oracle.intervals(told)
    for row in found:
        assert row["is_under_replicated"] == (len(row["isr"]) < len(row["replicas"]))
        assert row["is_offline"] == (row["leader"] == -1)
    assert any(row["is_offline"] for row in found)
    assert any(row["is_under_replicated"] for row in found)


def test_minutes_are_the_integral_over_the_intervals(whole: Path, told: list[txn.Row]) -> None:
    until = max(row.time for row in told)

    def spans(flag: str) -> list[tuple[str, int, int, int]]:
        return [
            (row["topic"], row["partition"], row["from_ms"], row["to_ms"])
            for row in rows(whole, "partition_intervals")
            if row[flag]
        ]

    found = rows(whole, "under_replicated_minutes")
    under = {row["minute"]: (row["partitions"], row["partition_seconds"]) for row in found}
    offline = {row["minute"]: (row["offline_partitions"], row["offline_seconds"]) for row in found}
    for shown, flag in ((under, "is_under_replicated"), (offline, "is_offline")):
        wanted = oracle.minutes(spans(flag), until)
        assert wanted
        assert {minute: count for minute, (count, _) in shown.items() if count} == {
            minute: count for minute, (count, _) in wanted.items()
        }
        for minute, (_, seconds) in wanted.items():
            assert shown[minute][1] == pytest.approx(seconds)


def test_controllers_and_brokers_are_those_of_the_story(whole: Path, lived: Lived) -> None:
    terms = sorted(rows(whole, "controller_epochs"), key=lambda row: row["from_zxid"])
    assert [row["broker"] for row in terms][:2] == lived.controllers
    assert [row["epoch"] for row in terms] == list(range(1, len(terms) + 1))
    ours = sorted(
        (row for row in rows(whole, "broker_sessions") if row["broker"] == lived.killed),
        key=lambda row: row["from_zxid"],
    )
    assert len(ours) == 2
    assert ours[0]["to_zxid"] < ours[1]["from_zxid"]
    assert {row["ended"] for row in ours} == {"session"}
    assert {(row["host"], row["port"], row["rack"]) for row in ours} == {
        (f"kafka-{lived.killed}.test", 9092, f"rack-{lived.killed % 2}")
    }
    assert len({row["session"] for row in ours}) == 2


def test_the_timeline_says_what_the_live_pages_would_have_said(whole: Path, told: list[txn.Row]) -> None:
    found = [(row["zxid"], row["what"], row["before"], row["after"]) for row in rows(whole, "timeline")]
    assert sorted(found, key=str) == sorted(oracle.sayings(told), key=str)
    assert any("leader moved" in what for _, what, _, _ in found)
    assert any("was deleted" in what for _, what, _, _ in found)


def test_writes_offsets_and_sessions_are_counted(whole: Path, told: list[txn.Row]) -> None:
    hot = {(row["minute"], row["prefix"]): row["writes"] for row in rows(whole, "hot_paths")}
    assert hot == oracle.prefixes(told)
    rates = rows(whole, "offset_rates")
    assert {
        (row["group"], row["topic"], row["part"], row["minute"]): (
            row["offset"],
            row["committed_ms"],
            row["commits"],
        )
        for row in rates
    } == oracle.commits(told)
    found = {row["session"]: (row["ephemerals"], row["writes"]) for row in rows(whole, "sessions")}
    assert found == oracle.writers(told)
    assert all(row["ended"] == "closed" for row in rows(whole, "sessions") if row["to_ms"] is not None)


def test_groups_that_everybody_left_are_idle(whole: Path, told: list[txn.Row]) -> None:
    idle = {row["group"]: row for row in rows(whole, "idle_groups")}
    assert {"billing", "archive", "gone"} == set(idle)
    for group, row in idle.items():
        left = [
            each.time
            for each in told
            if paths.locate(each.path or "")[:2] == (Kind.MEMBER, group) and each.type == txn.CLOSE_SESSION
        ]
        assert row["last_member_ms"] == left[-1]


def test_the_time_that_is_covered_is_that_of_all_changes_also_of_tables_of_an_earlier_release(
    bring: Callable[[Path, Path], Any], lived: Lived, whole: Path, told: list[txn.Row], tmp_path: Path
) -> None:
    times, zxids = [row.time for row in told], [row.zxid for row in told]
    [covered] = rows(whole, "covered_times")
    assert (covered["from_ms"], covered["to_ms"]) == (min(times), max(times))
    assert covered["from_zxid"] <= min(zxids)
    assert covered["to_zxid"] >= max(zxids)
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "shop" / "covered_times")
    bring(lived.stages[-1], tmp_path)
    assert rows(tmp_path, "covered_times") == [covered]


def test_piece_by_piece_and_hour_by_hour_gives_what_all_at_once_gives(
    bring: Callable[[Path, Path], Any],
    lived: Lived,
    whole: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All at once each day is one file; here hours are short, and three rows too many for a day's file."""
    monkeypatch.setattr(day_partitions, "MOST_ROWS_A_DAY", 3)
    monkeypatch.setattr(day_partitions, "HOUR_MS", 300)
    for files in lived.stages:
        bring(files, tmp_path)
    assert len(Table(tmp_path / "shop" / "partition_intervals").read().files) > 1
    assert len(Table(whole / "shop" / "partition_intervals").read().files) == 1
    for name in (*derived.TABLES, "changes"):
        assert rows(tmp_path, name) == rows(whole, name), name
    before = {name: Table(tmp_path / "shop" / name).read().rows for name in derived.TABLES}
    bring(lived.stages[-1], tmp_path)
    assert {name: Table(tmp_path / "shop" / name).read().rows for name in derived.TABLES} == before
    for name in derived.TABLES:
        assert rows(tmp_path, name) == rows(whole, name), name


def test_what_nothing_happened_to_stays_as_it_is_and_moves_on(
    bring: Callable[[Path, Path], Any], tmp_path: Path
) -> None:
    """A commit tells of its group: what tables say of brokers, controllers and partitions is left alone."""
    files, root = tmp_path / "files", tmp_path / "history"
    offset, state = "/consumers/app/offsets/orders/0", "/brokers/topics/orders/partitions/0/state"
    made = {
        "/controller": b'{"version":1,"brokerid":1,"timestamp":"1"}',
        "/brokers/ids/1": b'{"version":1,"host":"h","port":9092,"timestamp":"1"}',
        "/brokers/topics/orders": b'{"version":1,"partitions":{"0":[1]}}',
        state: b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}',
        offset: b"5",
    }
    creates = (a_create(zxid, CHROOT + path, data=data) for zxid, (path, data) in enumerate(made.items(), 1))
    write(files, *([each] for each in creates))
    bring(files, root)

    def standing(name: str) -> tuple[list[File], int | None]:
        now = Table(root / "shop" / name).read()
        return list(now.files), now.position(inputs.key(LOGGED))

    before = {name: standing(name) for name in derived.TABLES}
    write(files, [a_set(len(made) + 1, CHROOT + offset, b"9")])
    bring(files, root)
    left = (
        "partition_intervals",
        "leader_churn",
        "controller_epochs",
        "broker_sessions",
        "timeline",
        "rebalances",
    )
    for name in left:
        assert standing(name) == (before[name][0], len(made) + 1), name
        assert before[name][0] or name in {"leader_churn", "rebalances"}, name
    assert [each["offset"] for each in rows(root, "offset_rates")] == [9]
    assert [each["group"] for each in rows(root, "idle_groups")] == ["app"]


def test_any_engine_reads_and_rewrites_what_spark_wrote(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    for name, schema in {**derived.TABLES, **schemas.TABLES}.items():
        if wanted := rows(whole, name):
            read = deltalake.DeltaTable(tmp_path / "shop" / name).to_pyarrow_table(columns=schema.names)
            assert ordered(read.to_pylist()) == wanted, name
    assert Table(tmp_path / "shop" / "partition_intervals").delete("to_ms IS NOT NULL")
    lasting = [row for row in rows(whole, "partition_intervals") if row["to_ms"] is None]
    assert rows(tmp_path, "partition_intervals") == lasting
    assert lasting


def test_where_the_first_logs_were_purged_a_snapshot_tells_what_was_there(
    bring: Callable[[Path, Path], Any], lived: Lived, whole: Path, tmp_path: Path
) -> None:
    at_rest = _snapshot_at_rest(lived.stages[1], tmp_path / "restarted")
    files = tmp_path / "purged"
    shutil.copytree(lived.stages[-1], files)
    for path in (files / "version-2").glob("snapshot.*"):
        path.unlink()
    shutil.copy(at_rest, files / "version-2")
    logs = sorted((files / "version-2").glob("log.*"), key=file_zxid)
    # As ZooKeeper's PurgeTxnLog does, it leaves the log that goes on where the snapshot ends.
    goes_on = max(index for index, path in enumerate(logs) if file_zxid(path) <= file_zxid(at_rest) + 1)
    for path in logs[:goes_on]:
        path.unlink()
    bring(files, tmp_path)
    first = file_zxid(logs[goes_on])
    # What ended between the first log that is left and the snapshot began nobody knows where.
    known = max(first, file_zxid(at_rest) + 1)
    for name in ("partition_intervals", "broker_sessions", "controller_epochs"):
        wanted = [row for row in rows(whole, name) if row["to_zxid"] is None or row["to_zxid"] >= known]
        found = [row for row in rows(tmp_path, name) if row["to_zxid"] is None or row["to_zxid"] >= known]
        assert found == wanted, name
        # A controller's epoch need not span the gap; partitions and brokers do.
        assert name == "controller_epochs" or any(row["from_zxid"] < first for row in found), name


def _snapshot_at_rest(files: Path, directory: Path) -> Path:
    """The snapshot that a ZooKeeper takes as it starts on a copy of these files.

    Nothing changes meanwhile. One taken of a server at work is fuzzy: it lacks what was deleted while it
    was written, and what that had been is in no file that is left.
    """
    shutil.copytree(files, directory)
    with Server(directory, tick_time_ms=200):
        pass
    return max((directory / "version-2").glob("snapshot.*"), key=file_zxid)
