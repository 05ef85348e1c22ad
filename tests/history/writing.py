"""Derived tables for tests: real Parquet files of a few rows, as a run lists them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from zkdash.history.store import derived, files, schemas
from zkdash.history.store.manifest import Table

MINUTE = 60_000
SCHEMAS = {**schemas.TABLES, **derived.TABLES}


def put(directory: Path, name: str, rows: list[dict[str, Any]], run: str = "test") -> None:
    """Append rows to a table below the directory of a cluster; columns that a row does not have are null."""
    files.append(Table(directory / name), pa.Table.from_pylist(rows, schema=SCHEMAS[name]), run)


def read(directory: Path, first_ms: int, last_ms: int, *, zxid: int = 1, run: str = "test") -> None:
    """Say that everything from one instant to another was read and derived, with one write a minute."""
    times = range(first_ms, last_ms + 1, MINUTE)
    changes = [
        {"zxid": zxid + at, "op_index": 0, "time": time, "source": "txnlog", "type": "setData", "path": "/a"}
        for at, time in enumerate(times)
    ]
    put(directory, "changes", changes, run)
    put(directory, "coverage", [{"zxid_from": zxid, "zxid_upto": zxid + len(times) - 1}], run)
    minutes = [
        {"minute": time - time % MINUTE, "prefix": prefix, "writes": 1, "bytes": 10}
        for time in times
        for prefix in ("/", "/a")
    ]
    put(directory, "hot_paths", minutes, run)
