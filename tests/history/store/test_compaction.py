"""Many small files become few, and nobody misses a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zkdash.history.store import compaction, files
from zkdash.history.store.manifest import ConflictError, Table


def written(directory: Path, count: int) -> Table:
    table = Table(directory / "coverage")
    for batch in range(count):
        rows = pa.table({"zxid_from": [batch * 10], "zxid_upto": [batch * 10 + 9]})
        files.append(table, rows, f"logs-{batch}", stream="logs", batch=batch)
    return table


def held(table: Table) -> list[int]:
    return [zxid for path in table.paths() for zxid in pq.read_table(path)["zxid_from"].to_pylist()]


def test_small_files_become_one_with_their_rows_in_order_and_streams_go_on(tmp_path: Path) -> None:
    table = written(tmp_path, 20)
    assert compaction.compact(table, "compaction-1", now_ms=1) == 20
    now = table.read()
    assert held(table) == [batch * 10 for batch in range(20)]
    assert [(file.rows, file.bounds["zxid_upto"]) for file in now.files] == [(20, (9, 199))]
    assert (now.streams, len(now.retired)) == ({"logs": 19}, 20)
    assert files.append(table, pa.table({"zxid_from": [0]}), "logs-3", stream="logs", batch=3) == now


def test_few_files_and_large_ones_are_left_alone(tmp_path: Path) -> None:
    assert compaction.compact(written(tmp_path / "few", 3), "compaction-1", now_ms=1) == 0
    assert compaction.compact(written(tmp_path / "large", 20), "compaction-1", now_ms=1, small_bytes=10) == 0


def test_a_table_that_was_written_meanwhile_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = written(tmp_path, 20)
    join = compaction._join

    def joined(*arguments: Any) -> None:
        join(*arguments)
        files.append(table, pa.table({"zxid_from": [-1]}), "other")

    monkeypatch.setattr(compaction, "_join", joined)
    with pytest.raises(ConflictError):
        compaction.compact(table, "compaction-1", now_ms=1)
    assert len(held(table)) == 21
