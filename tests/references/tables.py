"""What docs/tables.md has to say, made of the columns that are declared of each table of the history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.references.markdown import code, table
from zkdash.history.store import derived, derived_columns, loaded_columns
from zkdash.history.store.derived_columns import Column

_HEAD = """\
# The tables

What the recorder and the pipeline write below `ZKDASH_HISTORY`, a table of Delta Lake each, in
`<history>/<cluster>/<table>/`. How they are made, how fresh they are and how they are read: [the
pipeline](pipeline.md#tables). The rows of the derived ones stand on a page too, in HTML, JSON and CSV, at
`/c/<cluster>/tables/<table>/`.

Times are milliseconds since 1970, UTC, by the clock of ZooKeeper's leader unless it says otherwise. A zxid
is the number of a transaction. Null is what nobody knows or what is not there; the column says which.
Tables that are kept by day have a column `date` (UTC) beside these.

This page is what the columns in `zkdash/history/store` say of themselves; `make check` keeps the two equal.
"""


def text() -> str:
    """The whole page."""
    return "\n".join(
        (
            _HEAD,
            "## What was loaded and recorded\n",
            *_tables(loaded_columns.MEANINGS, loaded_columns.COLUMNS),
            "## What is derived of it\n",
            *_tables(derived_columns.MEANINGS, derived_columns.COLUMNS),
        )
    )


def _tables(meanings: dict[str, str], columns: dict[str, tuple[Column, ...]]) -> Iterator[str]:
    for name, declared in columns.items():
        by_day = " By day." if name in derived.DATED else ""
        yield f"### {name}\n\n{meanings[name]}{by_day}\n"
        yield table(("column", "holds", "meaning"), _rows(declared))


def _rows(columns: Iterable[Column]) -> Iterator[tuple[str, str, str]]:
    return ((code(column.name), column.kind, column.meaning) for column in columns)
