"""A table is what its log lists, whoever writes, whenever it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from zkdash.history.store import delta, files, schemas
from zkdash.history.store.delta import GRACE_MS, ConflictError, Table, TableError

ROOT = Path(__file__).resolve().parents[3]
BYTES = 60  # from one kill to the next


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path / "coverage")


def rows(*zxids: int) -> pa.Table:
    told = [{"zxid_from": zxid, "zxid_upto": zxid} for zxid in zxids]
    return pa.Table.from_pylist(told, schema=schemas.COVERAGE)


def held(table: Table) -> list[int]:
    return [zxid for path in table.paths() for zxid in pq.read_table(path)["zxid_upto"].to_pylist()]


def on_disk(table: Table) -> set[Path]:
    return set(table.directory.glob("**/part-*.parquet"))


def age(path: Path) -> Path:
    """Have a file be as old as no run is."""
    os.utime(path, (1, 1))
    return path


def test_a_table_that_was_never_written_is_empty(table: Table) -> None:
    assert table.read().files == ()
    assert table.read().version == table.version() == -1
    assert table.read().position("logs") is None
    assert not table.directory.exists()


def test_rows_of_several_runs_are_all_there_with_their_counts_and_bounds(table: Table) -> None:
    files.append(table, rows(1, 2, 3))
    files.append(table, rows(9, 4))
    now = table.read()
    assert held(table) == [1, 2, 3, 9, 4]
    assert now.rows == 5
    assert [file.bounds["zxid_upto"] for file in now.files] == [(1, 3), (4, 9)]
    assert now.bytes == sum(path.stat().st_size for path in table.paths())
    assert table.version() == now.version > 0


def test_a_version_is_that_of_a_commit_that_came_to_its_end(table: Table) -> None:
    for number in range(12):  # past a checkpoint
        files.append(table, rows(number))
    log = table.directory / delta.LOG
    (log / f"{13:020}.json#1").write_text("{}")  # of a writer that was killed
    assert table.version() == table.read().version == 12
    assert list(log.glob("*.checkpoint.parquet"))


def test_any_reader_of_delta_finds_the_same_rows_and_statistics(table: Table) -> None:
    files.append(table, rows(1, 2, 3))
    files.append(table, rows(9, 4))
    read = deltalake.DeltaTable(table.directory)
    assert sorted(read.to_pyarrow_table()["zxid_upto"].to_pylist()) == [1, 2, 3, 4, 9]
    assert len(read.file_uris(file_pruning_predicate="zxid_upto > 5")) == 1
    problems = Table(table.directory.with_name("problems"))
    told = [{"file": "log.1", "offset": 3, "reason": "a" * 5000}, {"file": "log.2"}]
    files.append(problems, pa.Table.from_pylist(told, schema=schemas.PROBLEMS))
    dataset = deltalake.DeltaTable(problems.directory).to_pyarrow_dataset()
    assert dataset.to_table(filter=pc.field("reason") == "a" * 5000).num_rows == 1
    assert dataset.to_table(filter=pc.field("file") == "log.2").num_rows == 1


def test_a_run_without_rows_lists_no_file(table: Table) -> None:
    files.append(table, rows())
    assert table.read().files == ()


def test_what_an_attempt_left_behind_is_not_in_the_next_one(table: Table) -> None:
    left = table.directory / "data" / "left"
    left.mkdir(parents=True)
    pq.write_table(rows(1), left / "part-9.parquet")
    files.append(table, rows(2))
    assert held(table) == [2]


def test_a_streams_batch_is_added_once_even_if_another_followed(table: Table) -> None:
    for number in (0, 1, 0, 1):
        files.append(table, rows(number), stream="logs", batch=number)
    assert held(table) == [0, 1]
    assert (table.read().position("logs"), table.read().position("others")) == (1, None)
    files.append(table, rows(2), stream="others", batch=0)
    assert held(table) == [0, 1, 2]


def test_a_stream_that_went_on_since_is_a_conflict_and_what_others_added_is_none(table: Table) -> None:
    files.append(table, rows(1), stream="logs", batch=1)
    base = table.read()
    files.append(table, rows(2), stream="others", batch=1)
    files.append(table, rows(3), stream="logs", batch=2, base=base)
    with pytest.raises(ConflictError, match="another run wrote"):
        files.append(table, rows(4), stream="logs", batch=3, base=base)
    assert held(table) == [1, 2, 3]
    assert on_disk(table) == set(table.paths())


def test_of_two_that_commit_a_streams_batch_at_once_one_is_listed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.append(table, rows(1), stream="logs", batch=1)
    commit = Table._commit

    def overtaken(self: Table, *arguments: object) -> None:
        monkeypatch.setattr(Table, "_commit", commit)
        files.append(table, rows(2), stream="logs", batch=2)
        commit(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Table, "_commit", overtaken)
    files.append(table, rows(3), stream="logs", batch=2)
    assert held(table) == [1, 2]


def test_what_is_replaced_goes_and_positions_move_on_with_it(table: Table) -> None:
    files.append(table, rows(1))
    files.append(table, rows(2))
    base = table.read()
    table.replace(base, base.files[:1], files.write(table, rows(7)), positions={"derived": 7, "as_of": 3})
    assert held(table) == [2, 7]
    assert [table.read().position(name) for name in ("derived", "as_of")] == [7, 3]
    table.replace(table.read(), (), (), positions={"derived": 5})
    assert table.read().position("derived") == 5


def test_the_second_of_two_writers_notices_that_the_table_is_another(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.append(table, rows(1))
    base = table.read()
    files.append(table, rows(2))
    with pytest.raises(ConflictError, match=r"is at version 2, not 1: another run wrote it"):
        table.replace(base, base.files, ())
    base, commit = table.read(), Table._commit

    def overtaken(self: Table, *arguments: object) -> None:
        monkeypatch.setattr(Table, "_commit", commit)
        table.replace(base, base.files[:1], ())
        commit(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Table, "_commit", overtaken)
    with pytest.raises(ConflictError, match="another run wrote"):
        table.replace(base, base.files, ())
    assert held(table) == [2]


def test_many_writers_at_once_lose_nothing(table: Table) -> None:
    def write(number: int) -> None:
        for step in range(10):
            files.append(table, rows(100 * number + step), stream=f"writer-{number}", batch=step)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(held(table)) == sorted(100 * number + step for number in range(4) for step in range(10))


def test_rows_are_deleted_and_files_of_which_none_is_are_left_alone(table: Table) -> None:
    for zxids in ((1, 2), (2, 7), (8, 9)):
        files.append(table, rows(*zxids))
    untouched = table.read().files[-1]
    assert table.delete("zxid_upto <= 2") == 2
    assert sorted(held(table)) == [7, 8, 9]
    assert untouched in table.read().files
    assert table.delete("zxid_upto <= 2") == 0
    assert Table(table.directory.with_name("problems")).delete('"offset" < 3') == 0


def test_small_files_become_one_with_all_their_rows_and_streams_go_on(table: Table) -> None:
    for batch in range(20):
        files.append(table, rows(batch), stream="logs", batch=batch)
    assert table.compact() == 20
    now = table.read()
    assert sorted(held(table)) == list(range(20))
    assert [(file.rows, file.bounds["zxid_upto"]) for file in now.files] == [(20, (0, 19))]
    files.append(table, rows(3), stream="logs", batch=3)
    assert table.read().version == now.version


def test_few_files_and_large_ones_are_left_alone(table: Table) -> None:
    for batch in range(7):
        files.append(table, rows(batch))
    assert table.compact() == 0
    files.append(table, rows(7))
    assert table.compact(small_bytes=10) == 0
    assert table.compact() == 8


def test_days_are_put_together_each_for_itself(tmp_path: Path) -> None:
    table = Table(tmp_path / "leader_churn")
    schema = pa.schema({"minute": pa.int64(), "topic": pa.string(), "changes": pa.int64()})
    for number in range(16):
        day = f"2026-01-0{1 + number % 2}"
        churn = pa.Table.from_pylist([{"minute": number, "topic": "a", "changes": 1}], schema=schema)
        table.append(files.write(table, churn, day=day))
    assert table.compact() == 16
    assert sorted(file.partition["date"] for file in table.read().files) == ["2026-01-01", "2026-01-02"]
    assert table.delete("date < '2026-01-02'") == 1
    assert [file.rows for file in table.read().files] == [8]


def test_what_left_the_list_or_never_was_on_it_is_deleted_after_the_grace_and_not_before(
    table: Table,
) -> None:
    files.append(table, rows(1))
    files.append(table, rows(2))
    old, new = table.paths()
    table.delete("zxid_upto = 1")
    left = list[Path]()
    for name in ("crashed", "running"):
        directory = table.directory / "data" / name
        directory.mkdir(parents=True)
        left.append(directory / "part-0.parquet")
        pq.write_table(rows(3), left[-1])
    crashed, running = left
    age(crashed)
    assert table.vacuum(grace_ms=GRACE_MS) == 1
    assert on_disk(table) == {old, new, running}
    table.vacuum(grace_ms=0)
    assert on_disk(table) == {new}
    assert [path for path in table.directory.glob("data/*") if path.is_dir()] == [new.parent]
    assert held(table) == [2]


def test_a_log_that_cannot_be_read_is_told_with_what_to_do(table: Table) -> None:
    files.append(table, rows(1))
    newest = max((table.directory / delta.LOG).glob("*.json"))
    newest.write_text('{"add": 3')
    with pytest.raises(TableError, match=r"coverage cannot be read .*: make room, restore its _delta_log"):
        table.read()


def test_a_table_that_needs_more_of_a_reader_is_refused_in_words(tmp_path: Path) -> None:
    deltalake.DeltaTable.create(
        tmp_path / "coverage", schemas.COVERAGE, configuration={"delta.enableDeletionVectors": "true"}
    )
    with pytest.raises(TableError, match="needs version 3 of the Delta protocol, where 1 is read"):
        Table(tmp_path / "coverage").read()


@pytest.fixture(scope="module")
def end_of() -> Iterator[Callable[[Path, str, int], int]]:
    """How a process ends that does something to a table and is killed at the n-th byte of a file."""
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
def test_a_writer_killed_at_any_byte_leaves_a_whole_table_and_the_next_one_goes_on(
    end_of: Callable[[Path, str, int], int], tmp_path: Path, what: str, after: list[int]
) -> None:
    kills = 0
    for limit in range(0, 4000, BYTES):
        table = Table(tmp_path / str(limit) / "coverage")
        files.append(table, rows(1, 2))
        ended = end_of(table.directory, what, limit)
        position = table.read().position("killed")
        assert held(table) == ([1, 2] if position is None else after)
        if ended != -signal.SIGXFSZ:
            assert (ended, position) == (0, 1)
            break
        kills += 1
        files.append(table, rows(5))
        assert 5 in held(table)
        table.vacuum(grace_ms=0)
        assert on_disk(table) == set(table.paths())
    assert kills > 3


def test_a_disk_that_is_full_leaves_the_table_as_it_was(table: Table) -> None:
    files.append(table, rows(1))
    program = (
        "import resource, sys, pathlib\n"
        "from tests.history.killed import ROWS\n"
        "from zkdash.history.store import files\n"
        "from zkdash.history.store.delta import Table\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "files.append(Table(pathlib.Path(sys.argv[1])), ROWS)\n"
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
    assert on_disk(table) == set(table.paths())
