"""A table is what its manifest lists, whoever writes, whenever it is killed."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zkdash.history.store import files
from zkdash.history.store.manifest import ConflictError, File, ManifestError, Table

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path / "changes")


def rows(*zxids: int) -> pa.Table:
    return pa.table({"zxid_upto": pa.array(zxids, pa.int64())})


def held(table: Table) -> list[int]:
    return sorted(zxid for path in table.paths() for zxid in pq.read_table(path)["zxid_upto"].to_pylist())


def on_disk(table: Table) -> set[Path]:
    return set((table.directory / "data").rglob("*.parquet"))


def test_a_table_that_was_never_written_is_empty(table: Table) -> None:
    assert table.read().files == ()
    assert table.read().generation == 0


def test_rows_of_several_runs_are_all_there_with_their_counts_and_bounds(table: Table) -> None:
    files.append(table, rows(1, 2, 3), "first")
    now = files.append(table, rows(9, 4), "second")
    assert held(table) == [1, 2, 3, 4, 9]
    assert (now.generation, now.rows) == (2, 5)
    assert [file.bounds["zxid_upto"] for file in now.files] == [(1, 3), (4, 9)]
    assert now.bytes == sum(path.stat().st_size for path in table.paths())


def test_a_run_without_rows_lists_no_file(table: Table) -> None:
    assert files.append(table, rows(), "first").files == ()


def test_a_run_that_is_in_the_table_is_not_written_again(table: Table) -> None:
    files.append(table, rows(1), "first")
    with pytest.raises(ConflictError, match="holds the files of run first already"):
        files.append(table, rows(2), "first")
    assert held(table) == [1]


@pytest.mark.parametrize("run", ["", "../up", ".hidden", "a/b", "a b"])
def test_a_run_has_a_name_that_is_one_directorys(table: Table, run: str) -> None:
    with pytest.raises(ValueError, match="not a name for a run"):
        table.staging(run)


def test_what_an_attempt_left_behind_is_not_in_the_next_one(table: Table) -> None:
    left = table.staging("first")
    left.mkdir()
    pq.write_table(rows(1), left / "part-9.parquet")
    files.append(table, rows(2), "first")
    assert held(table) == [2]


def test_a_streams_batch_is_added_once_even_if_another_followed(table: Table) -> None:
    listed = [File(f"data/{number}", 1, 1, f"batch-{number}") for number in range(2)]
    table.append(listed[:1], stream="logs", batch=0)
    table.append(listed[1:], stream="logs", batch=1)
    assert table.append(listed[:1], stream="logs", batch=0).files == tuple(listed)
    assert table.read().generation == 2
    assert table.read().streams == {"logs": 1}


def test_of_two_attempts_at_a_run_that_overlap_one_is_listed(table: Table) -> None:
    first, second = (table.staging("first") for _ in range(2))
    for directory in (first, second):
        directory.mkdir()
        pq.write_table(rows(1), directory / "part-0.parquet")
    table.append(files.written(table, "first", second))
    with pytest.raises(ConflictError, match="holds the files of run first already"):
        table.append(files.written(table, "first", first))
    assert held(table) == [1]


def test_partitions_are_replaced_and_others_stay(table: Table) -> None:
    def of(run: str, day: str) -> File:
        return File(f"data/{run}/day={day}/part", 1, 1, run, {"day": day})

    table.append([of("first", "1"), of("first", "2")])
    base = table.read()
    after = table.replace_partitions(base, [of("second", "2"), of("second", "3")], keys=["day"], now_ms=5)
    assert [(file.run, file.partition["day"]) for file in after.files] == [
        ("first", "1"),
        ("second", "2"),
        ("second", "3"),
    ]
    assert [(retired.path, retired.since_ms) for retired in after.retired] == [("data/first/day=2/part", 5)]
    whole = table.replace_partitions(after, [of("third", "9")], keys=[], now_ms=6)
    assert [file.run for file in whole.files] == ["third"]


def test_the_second_of_two_writers_notices_that_the_table_is_another(table: Table) -> None:
    files.append(table, rows(1), "first")
    base = table.read()
    files.append(table, rows(2), "second")
    with pytest.raises(ConflictError, match="generation 2, not 1: another run wrote it"):
        table.replace(base, base.files, (), now_ms=0)
    assert held(table) == [1, 2]


def test_many_writers_at_once_lose_nothing(table: Table) -> None:
    def write(number: int) -> None:
        for step in range(10):
            files.append(table, rows(100 * number + step), f"run-{number}-{step}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert held(table) == sorted(100 * number + step for number in range(4) for step in range(10))
    assert table.read().generation == 40


def test_what_is_too_old_is_deleted_after_the_grace_and_not_before(table: Table) -> None:
    files.append(table, rows(1, 2), "old")
    files.append(table, rows(2, 7), "new")
    (old, new) = table.paths()
    now = time.time_ns() // 1_000_000
    assert table.retire("zxid_upto", 7, now_ms=now) == 1
    assert held(table) == [2, 7]
    assert table.sweep(now_ms=now + 999, grace_ms=1000) == 0
    assert on_disk(table) == {old, new}
    assert table.sweep(now_ms=now + 1000, grace_ms=1000) >= 1
    assert on_disk(table) == {new}
    assert table.read().retired == ()
    assert held(table) == [2, 7]


def test_files_that_a_crashed_run_left_are_swept_and_those_of_a_running_one_are_not(table: Table) -> None:
    files.append(table, rows(1), "first")
    left = []
    for _ in ("crashed", "running"):
        directory = table.staging("second")
        directory.mkdir()
        left.append(directory / "part-0.parquet")
        pq.write_table(rows(2), left[-1])
    crashed, running = left
    os.utime(crashed, (1, 1))
    table.sweep(now_ms=time.time_ns() // 1_000_000, grace_ms=60_000)
    assert on_disk(table) == {*table.paths(), running}


def test_a_manifest_that_cannot_be_read_is_told_with_what_to_do(table: Table) -> None:
    table.directory.mkdir()
    table.path.write_text('{"format": 1, "files": 3')
    with pytest.raises(ManifestError, match=r"manifest\.json cannot be read .*: restore it, or remove"):
        table.read()
    table.path.write_text('{"format": 2}')
    with pytest.raises(ManifestError, match="has format 2, where 1 is known: upgrade zkdash"):
        table.read()


@pytest.fixture(scope="module")
def end_of() -> Iterator[Callable[[Path, str, int], int]]:
    """How a process ends that does something to a table and is killed at its n-th touch of a file."""
    command = [sys.executable, "-m", "tests.history.killed"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        told, answers = process.stdin, process.stdout
        assert told is not None
        assert answers is not None

        def ask(directory: Path, what: str, limit: int) -> int:
            told.write(f"{directory}\t{what}\t{limit}\n")
            told.flush()
            return int(answers.readline())

        yield ask


@pytest.mark.parametrize(("what", "after"), [("append", [1, 2, 10, 11]), ("replace", [])])
def test_a_writer_killed_at_any_point_leaves_a_whole_table_and_the_next_one_goes_on(
    end_of: Callable[[Path, str, int], int], tmp_path: Path, what: str, after: list[int]
) -> None:
    seen = set()
    for limit in itertools.count(1):
        table = Table(tmp_path / f"{what}-{limit}")
        files.append(table, rows(1, 2), "first")
        ended = end_of(table.directory, what, limit)
        assert held(table) in ([1, 2], after)
        seen.add(tuple(held(table)))
        if ended != -signal.SIGKILL:
            assert ended == 0
            assert held(table) == after
            break
        files.append(table, rows(5), "third")
        assert 5 in held(table)
        table.sweep(now_ms=time.time_ns() // 1_000_000 + 1000, grace_ms=0)
        assert on_disk(table) == set(table.paths())
    assert limit > 5
    assert seen == {(1, 2), tuple(after)}


def test_a_disk_that_is_full_leaves_the_table_as_it_was(table: Table) -> None:
    files.append(table, rows(1), "first")
    program = (
        "import resource, signal, sys, pathlib, pyarrow as pa\n"
        "from zkdash.history.store import files\n"
        "from zkdash.history.store.manifest import Table\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "rows = pa.table({'zxid_upto': list(range(1000))})\n"
        "files.append(Table(pathlib.Path(sys.argv[1])), rows, 'second')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, table.directory],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "File too large" in ran.stderr
    assert held(table) == [1]
