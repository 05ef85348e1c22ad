"""What pages read: only listed files, within limits, and never anything else."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from zkdash.history.store import derived, files, schemas
from zkdash.history.store.delta import Table
from zkdash.history.store.tables import Bounds, QueryError, Tables


def coverage(*pairs: tuple[int, int]) -> pa.Table:
    told = [{"zxid_from": first, "zxid_upto": last} for first, last in pairs]
    return pa.Table.from_pylist(told, schema=schemas.COVERAGE)


def test_a_table_that_was_never_written_has_its_columns_and_no_rows(tmp_path: Path) -> None:
    with Tables(tmp_path, schemas.TABLES) as tables:
        for name, schema in schemas.TABLES.items():
            found = tables.query(f"FROM {name}")
            assert found.schema.names == schema.names
            assert found.num_rows == 0


def test_whatever_else_a_query_fails_by_is_told(tmp_path: Path) -> None:
    with (
        Tables(tmp_path, schemas.TABLES) as tables,
        pytest.raises(QueryError, match=r"DuckDB does not answer: .*nowhere does not exist"),
    ):
        tables.query("FROM nowhere")


def test_a_file_that_is_not_listed_is_not_read(tmp_path: Path) -> None:
    table = Table(tmp_path / "coverage")
    files.append(table, coverage((1, 2)))
    left = table.directory / "data" / "left"
    left.mkdir()
    pq.write_table(coverage((3, 4)), left / "part-0.parquet")
    with Tables(tmp_path, ["coverage"]) as tables:
        assert tables.rows("SELECT * FROM coverage") == [{"zxid_from": 1, "zxid_upto": 2}]


def test_a_reader_sees_one_moment_while_the_table_changes(tmp_path: Path) -> None:
    table = Table(tmp_path / "coverage")
    files.append(table, coverage((1, 2)))
    with Tables(tmp_path, ["coverage"]) as tables:
        base = table.read()
        table.replace(base, base.files, ())
        assert tables.rows("SELECT count(*) AS n FROM coverage") == [{"n": 1}]
    with Tables(tmp_path, ["coverage"]) as tables:
        assert tables.rows("SELECT count(*) AS n FROM coverage") == [{"n": 0}]


def test_files_that_cannot_hold_what_is_asked_are_not_opened(tmp_path: Path) -> None:
    table = Table(tmp_path / "coverage")
    files.append(table, coverage((1, 9)))
    files.append(table, coverage((10, 19)))
    table.paths()[0].write_bytes(b"no Parquet at all")
    with Tables(tmp_path, ["coverage"], bounds={"coverage": {"zxid_upto": (15, 30)}}) as tables:
        assert tables.rows("SELECT zxid_from FROM coverage") == [{"zxid_from": 10}]


def test_a_query_opens_no_files_but_those_within_its_bounds(tmp_path: Path) -> None:
    table = Table(tmp_path / "coverage")
    for first in (1, 10, 20, 30):
        files.append(table, coverage((first, first + 9)))
    table.paths()[2].write_bytes(b"no Parquet at all")
    all_of_it = "SELECT zxid_from AS first FROM coverage ORDER BY first"
    with Tables(tmp_path, ["coverage"]) as tables:
        bounds = {"coverage": {"zxid_upto": (35, 50)}}
        one_of_it = all_of_it.replace("ORDER", "WHERE zxid_upto >= 35 ORDER")
        assert tables.rows(one_of_it, bounds=bounds) == [{"first": 30}]
        with pytest.raises(QueryError, match="No magic bytes"):
            tables.rows(all_of_it)
        assert tables.rows(one_of_it, bounds=bounds) == [{"first": 30}]
        none_of_it = {"coverage": {"zxid_upto": (90, 95)}}
        assert tables.rows("SELECT 1 FROM coverage WHERE zxid_upto >= 90", bounds=none_of_it) == []


def pairs(tables: Tables, sql: str, bounds: Bounds) -> list[tuple[int, int]]:
    return [(row["zxid_from"], row["zxid_upto"]) for row in tables.rows(sql, bounds=bounds)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_files_may_lack_columns_or_order_them_otherwise(tmp_path: Path, order: tuple[int, ...]) -> None:
    """As after an update that added one, and where Spark and deltalake wrote."""
    table = Table(tmp_path / "coverage")
    columns = (["zxid_from"], ["zxid_upto", "zxid_from"], ["zxid_from", "zxid_upto"])
    for number in order:
        files.append(table, coverage((number, number + 100)))
        path = table.paths()[-1]
        pq.write_table(pq.read_table(path).select(columns[number]), path)
    last = {"coverage": {"zxid_upto": (102, 200)}}
    with Tables(tmp_path, ["coverage"]) as tables:
        for _ in range(2):
            assert pairs(tables, "SELECT * FROM coverage WHERE zxid_upto >= 102", last) == [(2, 102)]
            everything = pairs(tables, "SELECT * FROM coverage ORDER BY zxid_from", {})
            assert everything == [(0, None), (1, 101), (2, 102)]


def test_the_extremes_of_a_column_are_told_by_the_log_or_else_by_the_files(tmp_path: Path) -> None:
    table = Table(tmp_path / "coverage")
    with Tables(tmp_path, ["coverage"]) as tables:
        assert tables.extremes("coverage", "zxid_upto") is None
    nothing = pa.Table.from_pylist([{"zxid_from": 3}], schema=schemas.COVERAGE)
    for rows in (coverage((1, 9), (2, 4)), nothing, coverage((5, 7))):
        table.append(files.write(table, rows))
    with Tables(tmp_path, ["coverage"]) as tables:
        for path in table.paths():
            path.rename(path.with_suffix(".away"))
        assert tables.extremes("coverage", "zxid_upto") == (4, 9)
        assert tables.extremes("coverage", "zxid_from") == (1, 5)
        for path in table.paths():
            path.with_suffix(".away").rename(path)
    untold = [structs.replace(file, bounds={}, nulls={}) for file in files.write(table, coverage((6, 11)))]
    table.append(untold)
    with Tables(tmp_path, ["coverage"]) as tables:
        assert tables.extremes("coverage", "zxid_upto") == (4, 11)


def test_files_of_days_and_of_hours_lie_beside_those_that_deltalake_wrote(tmp_path: Path) -> None:
    """What a run writes apart by hours is put together, by days alone; then comes the next run."""
    churn = [{"minute": hour * 3_600_000, "topic": "t", "changes": hour} for hour in range(9)]
    table = Table(tmp_path / "leader_churn")
    for hour, row in enumerate(churn):
        (file,) = files.write(table, pa.Table.from_pylist([row], schema=derived.TABLES[table.name]))
        path = f"data/run/date=1970-01-01/hour={hour}/part-0.parquet"
        (table.directory / path).parent.mkdir(parents=True)
        (table.directory / file.path).rename(table.directory / path)
        table.append([structs.replace(file, path=path, partition={"date": "1970-01-01"})])
        if hour == 7:
            assert table.compact() == 8
    assert len(table.read().files) == 2
    with Tables(tmp_path, [table.name]) as tables:
        assert tables.rows("SELECT * FROM leader_churn ORDER BY minute") == churn


def test_parameters_are_no_part_of_the_words(tmp_path: Path) -> None:
    with Tables(tmp_path, schemas.TABLES) as tables:
        assert tables.rows("SELECT $1 AS told", ["'; DROP"]) == [{"told": "'; DROP"}]
        assert tables.rows("SELECT $told AS told", {"told": 3}) == [{"told": 3}]


def test_a_query_that_takes_too_long_ends_in_a_sentence_and_the_next_one_works(tmp_path: Path) -> None:
    with Tables(tmp_path, schemas.TABLES, limit_s=1.0) as tables:
        with pytest.raises(QueryError, match=r"longer than 1 s"):
            tables.query("SELECT sum(hash(a.range + b.range)) FROM range(10_000_000) a, range(10_000_000) b")
        assert tables.rows("SELECT 1 AS one") == [{"one": 1}]


def test_a_query_that_needs_too_much_memory_ends_in_a_sentence(tmp_path: Path) -> None:
    with (
        Tables(tmp_path, schemas.TABLES, memory_mb=20) as tables,
        pytest.raises(QueryError, match="more memory than"),
    ):
        tables.query("SELECT list(range || 'x') FROM range(10_000_000)")


def test_a_listed_file_that_is_gone_is_told(tmp_path: Path) -> None:
    table = Table(tmp_path / "coverage")
    files.append(table, coverage((1, 2)))
    table.paths()[0].unlink()
    with pytest.raises(QueryError, match="cannot be read"):
        Tables(tmp_path, ["coverage"])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM '/etc/passwd.parquet'",
        "COPY (SELECT 1) TO '/tmp/zkdash-must-not-be'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
    ],
)
def test_nothing_but_the_listed_files_can_be_read_or_written(tmp_path: Path, sql: str) -> None:
    with (
        Tables(tmp_path, schemas.TABLES) as tables,
        pytest.raises(Exception, match=r"(?i)disabled|permission|not allowed|locked|does not exist"),
    ):
        tables.query(sql)
