"""Table: the rows of one of the tables that the pipeline derives, of a stretch of time and of a name."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.query import SIZES
from zkdash.history.queries import rows
from zkdash.history.queries.rows import Question, Rows
from zkdash.history.store import derived_columns
from zkdash.kafka import paths
from zkdash.kafka.values import Unparsable
from zkdash.live.parts import Block, PageKey, Text
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, listing, shapes, tables, times
from zkdash.web.frame.cells import Cell, broker_cells
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.parameters import Parameters, of_canonical
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.history import recorded, spans

# Those that have pages of their own are told there.
TABLES: Final = tuple(name for name in derived_columns.COLUMNS if name != "timeline")
_PARAMETERS: Final = Parameters(frozenset({*rows.NAMES, "last", "from", "to", "page", "size"}), 300, 20)
# How a name begins a clause of a column's meaning that says when there is no value.
_NULL: Final = re.compile(r"(?:^|; |, )null (.*)$")
_FIT: Final = 13  # columns that a page has room for; a table of more scrolls by itself
_NOBODY_KNOWS: Final = re.compile(r"unknown|nobody knows|does not tell")

Entry = tuple[str, dict[str, Any]]  # the cluster's name, and a row


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """The query with what is not understood left out, and a sentence for each of these."""
    given = _PARAMETERS.read(raw)
    kept = [(name, given.last(name)) for name in ("last", "from", "to") if given.last(name)]
    time_query, notes = spans.canonical(urlencode(kept))
    notes = (*given.notes, *notes)
    names: list[tuple[str, str]] = []
    for name in rows.NAMES:
        value = given.last_as_written(name)
        if value and _value(name, value) is None:
            notes = (*notes, f"“{value}” is no {name}; rows of all of them are shown.")
        elif value:
            names.append((name, value))
    list_notes: list[str] = []
    number = listing.page_number(given.last_as_written("page", "1"), list_notes)
    size = listing.page_size(given.last_as_written("size", str(SIZES[0])), list_notes)
    names += [("page", str(number))] if number > 1 else []
    names += [("size", str(size))] if size != SIZES[0] else []
    rest = links.query(names)
    return "&".join(part for part in (time_query, rest) if part), (*notes, *list_notes)


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """The page of rows that is asked for."""
    (name,) = key.args
    if name not in TABLES:
        sentence = f"“{name}” is no derived table; there are {', '.join(TABLES)}."
        return View(title=f"Table {name}", parts=(), gone=sentence)
    span = spans.chosen(key.query, int(time.time() * 1000))
    given = of_canonical(key.query)
    question = _question(name, given, span)
    answer, trouble = recorded.told(
        snapshot.cluster, (name,), question, lambda opened: rows.look(opened, question), Rows()
    )
    columns = COLUMNS[name]
    entries = [(snapshot.cluster, row) for row in answer.rows]
    body = tables.part(
        "table-rows",
        columns,
        ((f"row-{number}", Severity.OK, entry) for number, entry in enumerate(entries)),
        Empty("No row of this time, and of these names, is recorded."),
    )
    return View(
        title=f"Table {name}",
        parts=(body, *_around(key.query, answer)),
        context={
            "name": name,
            "meaning": derived_columns.MEANINGS[name],
            "meanings": derived_columns.COLUMNS[name],
            "trouble": trouble,
            "has_time": rows.has_time(name),
            "choices": spans.choices(span.last, lambda last: _query(key.query, last=last)),
            "from": spans.written(span.window.from_ms),
            "to": spans.written(span.window.to_ms),
            "names": tuple((column, given.get(column, "")) for column in rows.names(name)),
            "others": tuple((other, links.table(snapshot.cluster, other)) for other in TABLES),
            "headings": tables.headings(columns, ""),
            "scrolls": len(columns) > _FIT,
            "pipeline": links.cluster(snapshot.cluster, "pipeline/"),
        },
        fields=tables.fields(columns),
        records=lambda: tables.records(columns, entries),
        total=answer.matched,
        extra=lambda: {
            "table": name,
            "from": times.utc_text(question.from_ms) if rows.has_time(name) else None,
            "to": times.utc_text(question.to_ms) if rows.has_time(name) else None,
            **({"error": trouble} if trouble else {}),
        },
        version=answer,
    )


def look(_snapshot: Snapshot, key: PageKey) -> View:
    """Nothing of it is live but what stands above every page."""
    return View(title=f"Table {key.args[0]}", parts=())


def _question(table: str, given: Mapping[str, str], span: spans.SpanChoice) -> Question:
    chosen = [(name, _value(name, given[name])) for name in rows.names(table) if name in given]
    return Question(
        table,
        span.window.from_ms,
        span.window.to_ms,
        tuple((name, value) for name, value in chosen if value is not None),
        int(given.get("page", "1")),
        int(given.get("size", str(SIZES[0]))),
    )


def _value(name: str, text: str) -> str | int | None:
    """The value of a name as the tables hold it; None for what is none."""
    if name == "session":
        return links.session_number(text)
    if name == "broker":
        return int(text) if paths.is_id(text) else None
    return text


def _query(query: str, **changed: str) -> str:
    """The canonical query with some of it changed, at its first page unless that is what changes."""
    given = of_canonical(query)
    if "last" in changed:
        given = {name: value for name, value in given.items() if name not in {"from", "to"}}
    if "page" not in changed:
        given.pop("page", None)
    return "?" + canonical(links.query({**given, **changed}.items()))[0]


def _around(query: str, answer: Rows) -> tuple[Text, Block]:
    """How many rows are shown, and the pages."""
    shown, matched = cells.grouped(len(answer.rows)), cells.grouped(answer.matched)
    return (
        Text("showing", f"Showing {shown} of {matched} rows"),
        listing.pager(answer.page, answer.pages, lambda number: _query(query, page=str(number))),
    )


def _missing(meaning: str) -> Cell:
    """Why a column has no value, by the clause of its meaning that says when."""
    clause = _NULL.search(meaning)
    why = clause[1] if clause else "there is none"
    if "did not parse" in why:
        return cells.unparsable(Unparsable(why))
    return cells.unknown(why) if _NOBODY_KNOWS.search(why) else cells.absent(why)


def _cell(column: derived_columns.Column) -> Callable[[Entry], Cell]:
    """How the values of a column look, by its name and by what it holds."""
    make, missing = _made(column), _missing(column.meaning)

    def cell(entry: Entry) -> Cell:
        value = entry[1][column.name]
        return missing if value is None else make(entry[0], value)

    return cell


def _made(column: derived_columns.Column) -> Callable[[str, Any], Cell]:
    named = _OF_NAME.get(column.name)
    if named is not None:
        return named
    if column.name.endswith("_ms"):
        return lambda _, value: cells.Moment(value)
    if column.name.endswith("zxid"):
        return lambda _, value: cells.Text(f"{value:#x}")
    return _OF_KIND[column.kind]


_OF_NAME: Final[dict[str, Callable[[str, Any], Cell]]] = {
    "topic": lambda cluster, name: cells.Name(name, links.topic(cluster, name)),
    "group": lambda cluster, name: cells.Name(name, links.group(cluster, name)),
    "broker": lambda cluster, broker: cells.Id(broker, href=links.broker(cluster, broker)),
    "leader": lambda cluster, broker: (
        broker_cells.NoLeader() if broker < 0 else cells.Id(broker, href=links.broker(cluster, broker))
    ),
    "session": lambda _, session: broker_cells.Session(session),
    "prefix": lambda cluster, path: cells.Path(path, is_head=True, cluster=cluster),
    "minute": lambda _, value: cells.Moment(value),
    "time": lambda _, value: cells.Moment(value),
    "partition": lambda _, value: cells.Id(value),
    "port": lambda _, value: cells.Id(value),
    "epoch": lambda _, value: cells.Id(value),
    "leader_epoch": lambda _, value: cells.Id(value),
    "controller_epoch": lambda _, value: cells.Id(value),
    "topics": lambda _, names: cells.Marks(tuple(names)),
    "codecs": lambda _, names: cells.Marks(tuple(names)),
    "reference": lambda cluster, broker: cells.Id(broker, href=links.broker(cluster, broker)),
}
_OF_KIND: Final[dict[str, Callable[[str, Any], Cell]]] = {
    "int64": lambda _, value: cells.Number(value),
    "int32": lambda _, value: cells.Number(value),
    "float64": lambda _, value: cells.Rate(value),
    "string": lambda _, value: cells.Text(value),
    "bool": lambda _, value: cells.Text("yes" if value else "no"),
    "list of int32": lambda _, brokers: broker_cells.Replicas(tuple(brokers)),
}
_NUMBERS: Final = frozenset({"int64", "int32", "float64"})
_WORDED: Final = frozenset({"minute", "time", "session"})


def _is_number(column: derived_columns.Column) -> bool:
    is_worded = column.name in _WORDED or column.name.endswith(("_ms", "zxid"))
    return column.kind in _NUMBERS and not is_worded


def _heading(name: str) -> str:
    """The column's name in words: "from_ms" is From, "per_second" Per second."""
    words = name.removesuffix("_ms").removeprefix("is_").replace("_", " ").replace("isr", "ISR")
    return words[0].upper() + words[1:]


COLUMNS: Final[dict[str, tuple[Column[Entry], ...]]] = {
    table: tuple(
        Column(
            column.name.removesuffix("_ms"),
            _heading(column.name),
            _cell(column),
            is_number=_is_number(column),
            is_sortable=False,
            title=column.meaning,
        )
        for column in derived_columns.COLUMNS[table]
    )
    for table in TABLES
}

PAGE = Page(
    name="table",
    route="tables/<name:table>/",
    template="history/table.html",
    look=look,
    canonical=canonical,
    shape=shapes.Shape(
        tuple(COLUMNS.values()),
        {"table": shapes.TEXT, "from": shapes.TEXT_OR_NULL, "to": shapes.TEXT_OR_NULL, "error": shapes.TEXT},
        optional=frozenset({"table", "from", "to", "error"}),
        parameters={
            "last": shapes.TEXT,
            "from": shapes.INSTANT,
            "to": shapes.INSTANT,
            **dict.fromkeys(rows.NAMES, shapes.TEXT),
        },
    ),
    whole=whole,
    no_past="Tables tell of the past already: choose from when to when on their page.",
)
