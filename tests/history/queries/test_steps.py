"""Steps from a moment to a later one, held against the later one read by itself, for stories of any kind."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests import full
from tests.history.queries.test_moment import change, create
from tests.history.writing import apart
from zkdash.cluster.changes import row
from zkdash.history.queries import moment, steps, trees
from zkdash.history.queries.moment import MomentError
from zkdash.history.queries.steps import TooFarError
from zkdash.history.store import files, schemas
from zkdash.history.store.delta import Table
from zkdash.history.store.tables import Tables
from zkdash.znode import Znode

PATHS: Final = ("/a", "/a/b", "/a/b/c", "/a/d", "/e")
SESSIONS: Final = (0, 7, 8)
# Open tables, the tree after each transaction, and the pairs of transactions to go between.
Lived = tuple[Tables, Mapping[int, dict[str, Znode]], tuple[tuple[int, int], ...]]
# How many transactions are read at once.
BLOCKS: Final = (1, 4, 64)
# What is tried: an operation, on a path, by a session.
Try = tuple[str, str, int]
# A znode that is made again in one multi, of which a child went before.
AGAIN: Final = (("delete", "/a/b"), ("delete", "/a"), ("create", "/a"))
TRIES: Final = st.tuples(
    st.sampled_from(["create", "create", "setData", "setACL", "delete", "close"]),
    st.sampled_from(PATHS),
    st.sampled_from(SESSIONS),
)


def story(transactions: list[list[Try]]) -> list[dict[str, Any]]:
    """The rows of what of the tries is possible, as a server would write them down."""
    rows: list[dict[str, Any]] = []
    owners: dict[str, int] = {"/": 0}
    versions: dict[str, list[int]] = {}
    for zxid, tries in enumerate(transactions, 1):
        made = list[dict[str, Any]]()
        for kind, path, session in tries:
            made += _possible(zxid, kind, path, session, owners, versions)
        rows += [each | {"op_index": index} for index, each in enumerate(made)]
    return rows


def _possible(  # noqa: PLR0911, PLR0917 - a small server
    zxid: int, kind: str, path: str, session: int, owners: dict[str, int], versions: dict[str, list[int]]
) -> list[dict[str, Any]]:
    if kind == "close":
        gone = [each for each, owner in owners.items() if session and owner == session]
        for each in gone:
            del owners[each]
        return [change(zxid, "closeSession", each) for each in gone]
    if kind == "create":
        parent = trees.parent(path)
        if path in owners or owners.get(parent, 1) != 0:
            return []
        owners[path], versions[path] = session, [0, 0]
        return [create(zxid, path, b"new", owner=session)]
    if path not in owners:
        return []
    if kind == "delete":
        if any(trees.parent(each) == path for each in owners if each != "/"):
            return []
        del owners[path]
        return [change(zxid, "delete", path)]
    place = 0 if kind == "setData" else 1
    versions[path][place] += 1
    data = b"%d" % zxid if kind == "setData" else None
    return [change(zxid, kind, path, version=versions[path][place], data=data)]


def write(directory: Path, rows: list[dict[str, Any]], last: int) -> None:
    told = {"changes": rows, "coverage": [{"zxid_from": 1, "zxid_upto": last}]}
    for name, listed in told.items():
        table = Table(directory / name)
        for part in apart(listed):
            table.append(files.write(table, pa.Table.from_pylist(part, schema=schemas.TABLES[name])))


@contextmanager
def lived(transactions: list[list[Try]]) -> Iterator[Lived]:
    """The tables of a story, its tree after each transaction, and the pairs of these to go between."""
    last = len(transactions)
    with tempfile.TemporaryDirectory() as below:
        write(Path(below), story(transactions), last)
        with Tables(Path(below), moment.TABLES) as tables:
            trees_at = {zxid: moment.read(tables, zxid).znodes for zxid in range(1, last + 1)}
            yield tables, trees_at, ((1, last), *itertools.pairwise(range(1, last + 1)))


@settings(max_examples=full.pick(8, 500), deadline=None)
@given(st.lists(st.lists(TRIES, min_size=1, max_size=4), min_size=2, max_size=25), st.sampled_from(BLOCKS))
@example([[("create", "/a", 0)], [("create", "/a/b", 0)], [("setData", "/a", 0), ("delete", "/a/b", 0)]], 64)
@example([[("create", "/a", 0), ("create", "/a/b", 0)], [(kind, path, 0) for kind, path in AGAIN]], 64)
def test_the_tree_by_steps_is_the_one_read_by_itself(transactions: list[list[Try]], block: int) -> None:
    with lived(transactions) as (tables, told, pairs), pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "_BLOCK", block)
        patch.setattr(steps, "_MOST_AT_ONCE", 8)
        for first, later in pairs:
            znodes = dict(told[first])
            list(steps.walk(znodes, steps.rows(tables, row.LOGGED, first, later)))
            assert znodes == told[later], (first, later)


@settings(max_examples=full.pick(8, 500), deadline=None)
@given(st.lists(st.lists(TRIES, min_size=1, max_size=4), min_size=2, max_size=25))
@example([[("create", "/a", 0)], [("create", "/a/b", 0)], [("delete", "/a/b", 0)], [("setACL", "/a", 0)]])
@example([[("create", "/a", 0), ("create", "/a/b", 0)], [(kind, path, 0) for kind, path in AGAIN]])
def test_a_tree_by_steps_back_from_a_later_one_is_the_one_read_by_itself(
    transactions: list[list[Try]],
) -> None:
    with lived(transactions) as (tables, told, pairs):
        for first, later in pairs:
            before = trees.before(tables, row.LOGGED, 0, first, (later, told[later]))
            assert before is not None
            back = {path: znode for path, znode in {**told[later], **before}.items() if znode is not None}
            assert back == told[first], (first, later)


def test_what_is_not_all_there_is_not_stepped_over(tmp_path: Path) -> None:
    write(tmp_path, story([[("create", "/a", 0)], [("create", "/e", 0)]]), 2)
    with Tables(tmp_path, moment.TABLES) as tables, pytest.raises(MomentError, match="without a gap"):
        steps.rows(tables, row.LOGGED, 1, 3)


def test_too_many_changes_are_not_stepped_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MOST", 1)
    write(tmp_path, story([[("create", "/a", 0)], [("create", "/e", 0)], [("delete", "/e", 0)]]), 3)
    with Tables(tmp_path, moment.TABLES) as tables:
        assert len(steps.rows(tables, row.LOGGED, 1, 2)) == 1
        with pytest.raises(TooFarError, match="more than 1 changes"):
            steps.rows(tables, row.LOGGED, 1, 3)
