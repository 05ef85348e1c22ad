"""Transaction logs: those of real servers as ZooKeeper prints them, and bytes that are no such log."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import full
from tests.formats import driven, logs
from tests.lab.ensemble import Ensemble
from zkdash.demo.zookeeper.server import Server
from zkdash.formats.problems import Problem
from zkdash.formats.redaction import Redaction
from zkdash.formats.txnlog import arrow, plain, rows
from zkdash.formats.txnlog.rows import Row

OPEN = "world:anyone:31"
HIDING = Redaction(("/secret",), lambda path, data: None if path.startswith("/app/secret") else data)


class Decoded(NamedTuple):
    rows: list[Row]
    problems: list[Problem]


def plainly(data: bytes, *, base: int = 0) -> Decoded:
    found = list(plain.decode(data, HIDING, base=base))
    return Decoded(
        [f for f in found if isinstance(f, Row)], sorted(f for f in found if isinstance(f, Problem))
    )


def fast(data: bytes, *, limit: int = arrow.ROWS, base: int = 0) -> Decoded:
    pieces = list(arrow.decode(data, HIDING, limit=limit, base=base))
    assert all(piece.batch.schema == arrow.SCHEMA for piece in pieces)
    for piece in pieces:
        piece.batch.validate(full=True)
    read = [Row(**row) for piece in pieces for row in piece.batch.to_pylist()]
    return Decoded(read, sorted(problem for piece in pieces for problem in piece.problems))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Logs of a 3.9 and a 3.4.14 that were driven through every type that a lone server writes."""
    new, old = (tmp_path_factory.mktemp("written") / name for name in ("new", "old"))
    with Server(new, tick_time_ms=200, java_options=driven.CONTAINER_CHECKS) as server:
        driven.write_everything(server.address, modern=True)
    with driven.old(old) as server:
        driven.write_everything(server.address, modern=False)
    return [log for folder in (new, old) for log in sorted((folder / "version-2").glob("log.*"))]


@pytest.mark.zk
def test_every_row_is_what_zookeepers_own_tool_prints_of_logs_of_3_9_and_3_4(written: list[Path]) -> None:
    types = set()
    for log in written:
        told = logs.hide(driven.tool("persistence.TxnLogToolkit", log))
        for decode in (plainly, fast):
            read = decode(log.read_bytes())
            assert read.problems == []
            assert logs.printed(read.rows) == told
            types |= {row.type for row in read.rows}
    assert types == set(rows.TYPES) - {rows.MULTI, rows.RECONFIG}


@pytest.mark.zk
def test_a_reconfiguration_of_an_ensemble_is_a_row_like_the_tools(tmp_path: Path) -> None:
    options = ("-Dzookeeper.skipACL=yes",)
    with Ensemble(
        tmp_path, tick_time_ms=200, config={"reconfigEnabled": "true"}, java_options=options
    ) as servers:
        client = driven.connected(servers.leader().address)
        leaving = next(n for n, each in enumerate(servers.servers, start=1) if each.mode == "follower")
        client.reconfig(joining=None, leaving=str(leaving), new_members=None)
        client.stop()
        client.close()
        leader = servers.leader()
    found = []
    for log in sorted((leader.data_dir / "version-2").glob("log.*")):
        read = plainly(log.read_bytes())
        assert read == fast(log.read_bytes())
        assert logs.printed(read.rows) == logs.hide(driven.tool("persistence.TxnLogToolkit", log))
        found += [row for row in read.rows if row.type == rows.RECONFIG]
    assert [row.path for row in found] == ["/zookeeper/config"]
    assert f"server.{leaving}=".encode() not in (found[0].data or b"")


@pytest.mark.zk
def test_bytes_that_changed_in_real_logs_are_noticed_and_both_decoders_agree(written: list[Path]) -> None:
    for log in written:
        data = log.read_bytes()
        whole = plainly(data)
        end = len(data.rstrip(b"\0")) + 20

        @settings(max_examples=full.pick(50, 300))
        @given(st.integers(0, end - 1), st.integers(1, 255), st.sampled_from([7, 20_000]))
        def changed(position: int, flip: int, limit: int) -> None:
            bad = bytearray(data)  # noqa: B023 - called below, in this turn
            bad[position] ^= flip
            read = fast(bytes(bad), limit=limit)
            assert read == plainly(bytes(bad))
            assert read != whole or 8 <= position < 16  # noqa: B023 - the dbid is in no row

        changed()


@pytest.mark.zk
def test_a_cut_log_yields_every_whole_transaction_and_can_be_read_on_from_there(written: list[Path]) -> None:
    data = written[0].read_bytes().rstrip(b"\0")
    data += b"" if data.endswith(b"B") else b"B"
    whole = fast(data).rows
    for cut in range(16, len(data), full.pick(61, 7)):
        pieces = list(arrow.decode(data[:cut], HIDING))
        read = [Row(**row) for piece in pieces for row in piece.batch.to_pylist()]
        assert read == whole[: len(read)]
        assert all(problem.torn for piece in pieces for problem in piece.problems)
        end = pieces[-1].end
        assert read + fast(data[end:], base=end).rows == whole


def _row(zxid: int = 1, kind: int = rows.SET_DATA, op: int = 0, **fields: Any) -> Row:
    return Row(7, 3, zxid, 1_600_000_000_000, op, kind, **fields)


texts = st.text(st.characters(codec="utf-8"), max_size=12)
datas = st.none() | st.binary(max_size=40)
acls = st.lists(
    st.sampled_from(["world:anyone:31", "sasl:kafka:31", "world:anyone:1", "ip:127.0.0.1:3"]), max_size=3
).map(",".join)
ints = st.integers(-(2**31), 2**31 - 1)
longs = st.integers(-(2**63), 2**63 - 1)
creates = {"path": texts, "data": datas, "acl": acls, "parent_cversion": ints}
sets = {"path": texts, "data": datas, "version": ints}
FIELDS: dict[int, dict[str, st.SearchStrategy[Any]]] = {
    rows.CREATE: creates | {"ephemeral": st.booleans()},
    rows.CREATE2: creates | {"ephemeral": st.booleans()},
    rows.CREATE_CONTAINER: creates,
    rows.CREATE_TTL: creates | {"ttl_ms": longs},
    rows.DELETE: {"path": texts},
    rows.DELETE_CONTAINER: {"path": texts},
    rows.SET_DATA: sets,
    rows.RECONFIG: sets,
    rows.SET_ACL: {"path": texts, "acl": acls, "version": ints},
    rows.CHECK: {"path": texts, "version": ints},
    rows.ERROR: {"error": ints},
    rows.CREATE_SESSION: {"timeout_ms": ints},
}
operations = st.sampled_from(sorted(FIELDS)).flatmap(
    lambda kind: st.fixed_dictionaries({"kind": st.just(kind), **FIELDS[kind]})
)


@st.composite
def transactions(draw: st.DrawFn) -> list[Row]:
    zxid = draw(longs)
    shape = draw(st.sampled_from(["one", "multi", "closed", "closed without paths"]))
    digest = draw(st.none() | longs)
    if shape == "one":
        return [_row(zxid, digest=digest, **draw(operations))]
    if shape == "multi":
        parts = draw(st.lists(operations, min_size=1, max_size=5))
        failed = any(part["kind"] == rows.ERROR for part in parts)
        return [
            _row(zxid, op=op, multi=True, failed=failed, digest=digest, **part)
            for op, part in enumerate(parts)
        ]
    paths = [] if shape != "closed" else draw(st.lists(texts.filter(bool), max_size=4))
    first = _row(zxid, rows.CLOSE_SESSION, digest=digest, paths=len(paths) if shape == "closed" else None)
    told = [
        _row(zxid, rows.CLOSE_SESSION, op=op, path=path, digest=digest)
        for op, path in enumerate(paths, start=1)
    ]
    return [first, *told]


@given(st.lists(transactions(), max_size=12), st.integers(1, 20), st.integers(0, 30))
def test_what_was_written_is_read_by_both_decoders(made: list[list[Row]], limit: int, fill: int) -> None:
    data = logs.log([logs.transaction(each, digest=each[0].digest) for each in made], fill=fill)
    wanted = Decoded([row for each in made for row in each], [])
    wanted = wanted._replace(
        rows=[row._replace(data=HIDING.apply(row.path, row.data)) if row.path else row for row in wanted.rows]
    )
    assert plainly(data) == wanted
    assert fast(data, limit=limit) == wanted


@given(st.lists(transactions(), min_size=1, max_size=6), st.data())
def test_transactions_in_no_known_form_are_told_and_left_out_alike(
    made: list[list[Row]], data: st.DataObject
) -> None:
    bodies = [logs.transaction(each, digest=each[0].digest) for each in made]
    for _ in range(data.draw(st.integers(1, 4))):
        which = data.draw(st.integers(0, len(bodies) - 1))
        body = bytearray(bodies[which])
        position = data.draw(st.integers(0, len(body)))
        match data.draw(st.sampled_from(["change", "cut", "add"])):
            case "change" if position < len(body):
                body[position] ^= data.draw(st.sampled_from([1, 0x80, 0xFF]))
            case "cut":
                del body[position:]
            case _:
                body[position:position] = data.draw(st.binary(min_size=1, max_size=13))
        bodies[which] = bytes(body)
    log = logs.log(bodies)
    assert fast(log) == plainly(log)


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_behind_a_header_raise_nothing(data: bytes) -> None:
    assert fast(logs.HEADER + data) == plainly(logs.HEADER + data)
    assert fast(data) == plainly(data)


def test_a_file_of_another_kind_is_told() -> None:
    for data, torn in (
        (b"ZKSN" + bytes(12), False),
        (b"ZKL", True),
        (b"", True),
        (b"ZKLG\0\0\0\3" + bytes(8), False),
    ):
        assert [(problem.offset in (0, 4), problem.torn) for problem in fast(data).problems] == [(True, torn)]
        assert plainly(data) == fast(data)


def test_a_wrong_checksum_is_told_with_its_place_and_the_rest_is_read() -> None:
    bodies = [logs.transaction([_row(zxid, path="/a", data=b"x", version=0)]) for zxid in (1, 2, 3)]
    data = bytearray(logs.log(bodies))
    size = len(logs.frame(bodies[0]))
    data[16 + size + 20] ^= 1
    read = fast(bytes(data))
    assert [row.zxid for row in read.rows] == [1, 3]
    assert [(problem.offset, problem.torn) for problem in read.problems] == [(16 + size, False)]


def test_a_half_written_transaction_in_an_allocated_file_is_torn_and_not_damage() -> None:
    whole = logs.log([logs.transaction([_row(path="/a", data=b"x" * 50, version=0)])])
    read = fast(whole[:-30] + bytes(1000))
    assert read == plainly(whole[:-30] + bytes(1000))
    assert read.rows == []
    assert [problem.torn for problem in read.problems] == [True]


def test_what_follows_the_end_is_not_read_but_told() -> None:
    body = logs.transaction([_row(path="/a", data=b"x", version=0)])
    read = fast(logs.log([body], fill=40) + logs.frame(body))
    assert len(read.rows) == 1
    assert [problem.torn for problem in read.problems] == [False]


def test_a_create_of_servers_before_3_4_has_no_cversion_of_its_parent() -> None:
    row = _row(kind=rows.CREATE, path="/a", data=b"", acl=OPEN, ephemeral=False, parent_cversion=None)
    data = logs.log([logs.transaction([row])])
    assert fast(data) == plainly(data) == Decoded([row], [])


@pytest.mark.parametrize("read", [plainly, fast])
def test_secrets_and_hashes_of_passwords_never_leave_the_decoder(read: Callable[[bytes], Decoded]) -> None:
    canary = b"canary-7f3a"
    digest = f"digest:alice:{canary.decode()}:31"
    made = [
        [_row(1, path="/app/secret/a", data=canary, version=1)],
        [_row(2, rows.CREATE, path="/app/secret", data=canary, acl=OPEN, ephemeral=False, parent_cversion=1)],
        [_row(3, op=0, multi=True, path="/app/secret/b", data=canary, version=1)],
        [_row(4, rows.SET_ACL, path="/x", acl=digest, version=1)],
        [_row(5, path="/other/secret", data=b"shown", version=1)],
    ]
    decoded = read(logs.log([logs.transaction(each) for each in made]))
    assert canary.decode() not in repr(decoded)
    assert [row.data for row in decoded.rows] == [None, None, None, None, b"shown"]
    assert decoded.rows[3].acl == "digest:alice:<hidden>:31"


def test_paths_that_are_no_utf_8_are_read_with_replacements() -> None:
    body = struct.pack("!qiqqi", 1, 2, 3, 4, rows.DELETE) + logs.buffer(b"/a\xff\xc3")
    data = logs.log([body])
    assert [row.path for row in fast(data).rows] == ["/a��"]
    assert fast(data) == plainly(data)


def test_many_rows_come_in_batches_of_about_the_asked_size() -> None:
    bodies = [
        logs.transaction([_row(zxid, path=f"/p{zxid}", data=b"x", version=0)]) for zxid in range(1, 50_001)
    ]
    pieces = list(arrow.decode(logs.log(bodies), HIDING))
    assert [piece.batch.num_rows for piece in pieces] == [20_000, 20_000, 10_000]
    table = pa.Table.from_batches(piece.batch for piece in pieces)
    assert table.column("zxid").to_pylist() == list(range(1, 50_001))
