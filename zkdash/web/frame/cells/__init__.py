"""The values that a table's cells show: each says how it looks in HTML and what it is in JSON and CSV.

A cell is compared by value: it holds an instant, never an age. Three kinds of "no value" stay apart:
absent in ZooKeeper `—`, unparsable `?`, and `unknown` (ZooKeeper cannot tell).
"""

from zkdash.web.frame.cells.cell import Cell, Plain, Record, grouped
from zkdash.web.frame.cells.heads import Head, Name, Path, RowName, path_html
from zkdash.web.frame.cells.missing import Missing, absent, known, unknown, unparsable
from zkdash.web.frame.cells.values import (
    Id,
    Marks,
    Moment,
    Number,
    Percent,
    Range,
    Rate,
    Status,
    Text,
    Word,
    Zxid,
    number_html,
    severity_html,
)

__all__ = [
    "Cell",
    "Head",
    "Id",
    "Marks",
    "Missing",
    "Moment",
    "Name",
    "Number",
    "Path",
    "Percent",
    "Plain",
    "Range",
    "Rate",
    "Record",
    "RowName",
    "Status",
    "Text",
    "Word",
    "Zxid",
    "absent",
    "grouped",
    "known",
    "number_html",
    "path_html",
    "severity_html",
    "unknown",
    "unparsable",
]
