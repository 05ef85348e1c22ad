"""Tables in an object store, by a real server of S3's API: they hold what tables of a directory hold."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.history.writing import put
from tests.lab.s3 import Bucket
from zkdash.history.places import remote
from zkdash.history.places.location import Remote
from zkdash.history.store import coverage, delta_errors, files, schemas
from zkdash.history.store.delta import ConflictError, File, Table, TableError
from zkdash.history.store.delta_log import Newest
from zkdash.history.store.tables import QueryError, Tables

SHAPE = [(field.name, field.type) for field in schemas.CHANGES]


@pytest.fixture
def shop(bucket: Bucket) -> Remote:
    return bucket.fresh() / "shop"


def rows(*zxids: int) -> pa.Table:
    told = [{"zxid_from": zxid, "zxid_upto": zxid} for zxid in zxids]
    return pa.Table.from_pylist(told, schema=schemas.COVERAGE)


def zxids(table: Table) -> list[int]:
    return [
        zxid for part in files.each(table, columns=("zxid_upto",)) for zxid in part["zxid_upto"].to_pylist()
    ]


def in_store(table: Table) -> set[str]:
    assert isinstance(table.location, Remote)
    paths = {entry.path for entry in remote.parquet(table.location, "")}
    return {path for path in paths if "_delta_log" not in path}


def of_little_patience(place: Remote) -> Remote:
    return Remote(place.url, place.beside, place.options | {"timeout": "1s", "max_retries": "0"})


def test_a_table_that_was_never_written_is_empty(shop: Remote) -> None:
    table = Table(shop / "coverage")
    assert (table.read().files, table.read().version, table.version()) == ((), -1, -1)
    with Tables(shop, schemas.TABLES) as tables:
        assert tables.rows("SELECT count(*) AS n FROM changes") == [{"n": 0}]


def test_what_was_appended_is_there_once_with_its_counts_and_bounds(shop: Remote) -> None:
    table = Table(shop / "coverage")
    for number in (0, 1, 0, 1):
        files.append(table, rows(10 * number, 10 * number + 5), stream="logs", batch=number)
    now = table.read()
    assert zxids(table) == [0, 5, 10, 15]
    assert [(file.rows, file.bounds["zxid_upto"]) for file in now.files] == [(2, (0, 5)), (2, (10, 15))]
    assert (now.position("logs"), table.version()) == (1, now.version)
    assert coverage.stretches(table) == [(0, 0), (5, 5), (10, 10), (15, 15)]
    assert {file.path for file in now.files} == in_store(table)
    others = deltalake.DeltaTable(str(table.location), storage_options=shop.options)
    assert sorted(others.to_pyarrow_table()["zxid_upto"].to_pylist()) == [0, 5, 10, 15]


def test_writers_at_once_lose_nothing_and_double_nothing(shop: Remote) -> None:
    table = Table(shop / "coverage")

    def write(number: int) -> None:
        for step in range(4):
            files.append(table, rows(100 * number + step), stream=f"writer-{number}", batch=step)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(zxids(table)) == sorted(100 * number + step for number in range(3) for step in range(4))


def test_the_second_of_two_that_replace_is_told_so(shop: Remote) -> None:
    table = Table(shop / "coverage")
    files.append(table, rows(1))
    base = table.read()
    table.replace(base, base.files, files.write(table, rows(7)), positions={"derived": 7})
    with pytest.raises(ConflictError, match=r"s3://.*/coverage is at version 2, not 1: another run wrote it"):
        table.replace(base, base.files, ())
    assert (zxids(table), table.read().position("derived")) == ([7], 7)


def test_rows_are_deleted_small_files_become_one_and_what_is_listed_no_longer_is_gone(shop: Remote) -> None:
    table = Table(shop / "coverage")
    for number in range(10):
        files.append(table, rows(number, number + 100))
    assert table.delete("zxid_upto < 2") == 2
    assert table.compact() == 9
    assert sorted(zxids(table)) == [*range(2, 10), *range(100, 110)]
    assert len(table.read().files) == 1
    files.write(table, rows(99))  # of a run that was killed
    assert table.vacuum() == 0
    assert table.vacuum(grace_ms=0) >= 11
    assert in_store(table) == {file.path for file in table.read().files}
    assert len(zxids(table)) == 18


def test_what_arrow_hands_over_in_one_piece_is_written_too(shop: Remote) -> None:
    store = remote.filesystem(shop)
    with store.open_output_stream("piece") as stream:
        stream.write(pa.py_buffer(b"some"))
        stream.write(b" bytes")
    with store.open_input_file("piece") as stream:
        assert stream.read() == b"some bytes"


def test_files_lie_by_day(shop: Remote) -> None:
    churn = [{"minute": at * 86_400_000, "topic": "t", "changes": at} for at in (1, 2)]
    put(shop, "leader_churn", churn)
    table = Table(shop / "leader_churn")
    assert sorted(file.partition["date"] for file in table.read().files) == ["1970-01-02", "1970-01-03"]
    with Tables(shop, ["leader_churn"]) as tables:
        assert tables.rows("SELECT * FROM leader_churn ORDER BY minute") == churn


def test_pages_read_listed_files_alone_and_only_those_that_may_hold_what_is_asked(shop: Remote) -> None:
    table = Table(shop / "coverage")
    files.append(table, rows(1, 9))
    files.append(table, rows(10, 19))
    files.write(table, rows(20))
    with Tables(shop, ["coverage"]) as tables:
        assert tables.rows("SELECT count(*) AS n, max(zxid_upto) AS upto FROM coverage") == [
            {"n": 4, "upto": 19}
        ]
    first = table.read().files[0]
    remote.filesystem(shop / "coverage").delete_file(first.path)
    with Tables(shop, ["coverage"], bounds={"coverage": {"zxid_upto": (15, 30)}}) as tables:
        assert tables.rows("SELECT min(zxid_from) AS first FROM coverage") == [{"first": 10}]
    with pytest.raises(QueryError, match="cannot be read"):
        Tables(shop, ["coverage"])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM 'zkdash://problems/data/other.parquet'",
        "COPY (SELECT 1) TO 'zkdash://coverage/data/other.parquet'",
        "COPY (SELECT 1) TO '/tmp/zkdash-must-not-be'",
        "SET enable_external_access = true",
    ],
)
def test_nothing_else_is_read_or_written(shop: Remote, sql: str) -> None:
    files.append(Table(shop / "coverage"), rows(1))
    with (
        Tables(shop, ["coverage"]) as tables,
        pytest.raises(Exception, match=r"(?i)disabled|permission|not allowed|locked|does not exist"),
    ):
        tables.query(sql)


def test_a_file_of_many_parts_is_read_by_several_threads_at_once(shop: Remote) -> None:
    table = Table(shop / "changes")
    changes = pa.table({name: pa.nulls(400_000, kind) for name, kind in SHAPE} | {"zxid": range(400_000)})
    for _ in range(3):
        store = remote.filesystem(shop / "changes")
        path = table.staging().name
        with store.open_output_stream(f"data/{path}.parquet") as stream:
            pq.write_table(changes, stream, row_group_size=4_000)
            size = stream.tell()
        table.append([File(f"data/{path}.parquet", 400_000, size)])
    with Tables(shop, ["changes"]) as tables:
        for _ in range(3):
            told = tables.rows(
                "SELECT count(*) AS n, sum(zxid)::BIGINT AS zxids, max(path) AS path FROM changes"
            )
            assert told == [{"n": 1_200_000, "zxids": 3 * 400_000 * 399_999 // 2, "path": None}]


def test_a_query_has_its_limits_here_too(shop: Remote) -> None:
    put(shop, "changes", [{"zxid": zxid, "data": bytes(1000), "path": f"/{zxid}"} for zxid in range(20_000)])
    with (
        Tables(shop, ["changes"], memory_mb=20) as tables,
        pytest.raises(QueryError, match="more memory than"),
    ):
        tables.query("SELECT list(path || zxid || data) FROM changes, range(50)")


def test_a_store_that_does_not_answer_is_told_in_one_line_without_its_keys(bucket: Bucket) -> None:
    place = bucket.fresh()
    gone = Remote(place.url, place.beside, {**place.options, "AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
    for look in (Table(gone / "coverage").read, Table(gone / "coverage").version):
        with pytest.raises(
            TableError, match=r"coverage cannot be read or written \(.*127\.0\.0\.1:1"
        ) as told:
            look()
        sentence = str(told.value)
        assert "see that the store answers" in sentence
        assert not {"\n", "\x1b"} & set(sentence)
        assert "canary" not in sentence
    missing: Any = Remote("s3://nowhere/zkdash", place.beside, place.options)
    with pytest.raises(TableError, match="404 Not Found"):
        Table(missing / "coverage").read()


def test_what_a_store_says_of_a_key_is_not_repeated() -> None:
    answer = (
        "Kernel error -> Generic S3 error: Client error with status 403 Forbidden: <?xml version='1.0'?>\n"
        "<Error><Code>SignatureDoesNotMatch</Code><Message>Check your key</Message>\n"
        "<AWSAccessKeyId>canary</AWSAccessKeyId><StringToSign>canary</StringToSign></Error>"
    )
    told = "Kernel error -> Generic S3 error: Client error with status 403 Forbidden: "
    assert delta_errors.line(OSError(answer)) == f"{told}SignatureDoesNotMatch: Check your key"


@pytest.mark.parametrize("look", ["read", "newest", "version", "append", "rows", "vacuum"])
def test_while_a_store_hangs_other_threads_of_the_process_go_on(bucket: Bucket, look: str) -> None:
    table = Table(of_little_patience(bucket.fresh()) / "coverage")
    files.append(table, rows(1))
    now, newest = table.read(), Newest()
    assert isinstance(table.location, Remote)
    assert newest.of(table.location, table.read).version == now.version
    looks: dict[str, Callable[[], object]] = {
        "read": table.read,
        "newest": partial(newest.of, table.location, table.read),
        "version": table.version,
        "append": lambda: table._write(now, rows(2), {}),
        "rows": lambda: files.read(table, now.files[0]),
        "vacuum": lambda: table.vacuum(grace_ms=0),
    }
    is_over, failures, turns = threading.Event(), list[Exception](), 0

    def wait() -> None:
        try:
            looks[look]()
        except TableError as error:
            failures.append(error)
        finally:
            is_over.set()

    with bucket.hung():
        threading.Thread(target=wait).start()
        while not is_over.wait(0.05):
            turns += 1
    assert turns >= 3
    (failure,) = failures
    assert "see that the store answers" in str(failure)


def test_who_waits_for_a_store_that_hangs_waits_for_his_limit_and_who_comes_after_not_at_all(
    bucket: Bucket,
) -> None:
    place = bucket.fresh()
    names = ("changes", "coverage")
    for name in names:
        put(place, name, [{"zxid_upto": 1}])
    silent = r"did not answer within 2 s: see that the store answers, and ask again"
    with bucket.hung():
        began = time.monotonic()
        with pytest.raises(TableError, match=silent):
            Tables(place, names, limit_s=2.0)
        first_s = time.monotonic() - began
        with pytest.raises(TableError, match=silent):
            Tables(place, names, limit_s=2.0)
        assert time.monotonic() - began - first_s < first_s
    assert first_s < float(place.options["timeout"].removesuffix("s"))


def test_a_query_of_a_store_that_hangs_ends_by_its_limit(bucket: Bucket) -> None:
    place = bucket.fresh()
    put(place, "changes", [{"zxid": zxid, "data": secrets.token_bytes(1000)} for zxid in range(1_000)])
    with Tables(place, ["changes"]) as tables:
        with bucket.hung(), patch.object(tables, "_limit_s", 1.0):
            began = time.monotonic()
            with pytest.raises(QueryError, match=r"cannot be read: |took longer than 1 s"):
                tables.query("SELECT max(data) FROM changes")
            assert time.monotonic() - began < float(place.options["timeout"].removesuffix("s"))
        assert tables.rows("SELECT count(*) AS n FROM changes") == [{"n": 1_000}]
