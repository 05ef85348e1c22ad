"""Tables for tests: real Parquet files of a few rows, as a run lists them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from zkdash.history.places.location import Location
from zkdash.history.store import derived, files, schemas
from zkdash.history.store.delta import LOG, Table

MINUTE = 60_000
# Tables of one cluster as the release before Delta Lake left them.
MANIFESTS = Path(__file__).resolve().parents[1] / "fixtures" / "history-manifests"
SCHEMAS = {**schemas.TABLES, **derived.TABLES, **schemas.INNER}
_TIMES = ("minute", "from_ms", "time")


def put(directory: Location, name: str, rows: list[dict[str, Any]]) -> None:
    """Append rows to a table below the directory of a cluster; columns that a row does not have are null.

    Changes lie in several files, so that what is asked of some of them is asked of more than one.
    """
    schema = SCHEMAS[name]
    days: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        days.setdefault(_day(name, row), []).append(row)
    table = Table(directory / name)
    added = [
        file
        for of, of_day in days.items()
        for part in (apart(of_day) if name == "changes" else [of_day])
        for file in files.write(table, pa.Table.from_pylist(part, schema=schema), day=of)
    ]
    table.append(added)


def apart(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Rows in three parts, or fewer, in their order."""
    size = max(1, -(-len(rows) // 3))
    return [rows[first : first + size] for first in range(0, len(rows), size)]


def held(directory: Location, name: str) -> list[dict[str, Any]]:
    """The rows of a table as its files hold them."""
    return [row for part in files.each(Table(directory / name)) for row in part.to_pylist()]


def spoil(directory: Path, name: str) -> None:
    """Have nobody be able to read a table: the newest commit of its log is torn."""
    log = directory / name / LOG
    log.mkdir(parents=True, exist_ok=True)
    (log / f"{len(list(log.glob('*.json'))):020}.json").write_text('{"add":{"pa')


def read(directory: Location, first_ms: int, last_ms: int, *, zxid: int = 1) -> None:
    """Say that everything from one instant to another was read and derived, with one write a minute."""
    times = range(first_ms, last_ms + 1, MINUTE)
    changes = [
        {"zxid": zxid + at, "op_index": 0, "time": time, "source": "txnlog", "type": "setData", "path": "/a"}
        for at, time in enumerate(times)
    ]
    put(directory, "changes", changes)
    put(directory, "coverage", [{"zxid_from": zxid, "zxid_upto": zxid + len(times) - 1}])
    covered = {"from_ms": first_ms, "to_ms": last_ms, "from_zxid": zxid, "to_zxid": zxid + len(times) - 1}
    put(directory, "covered_times", [covered])
    minutes = [
        {"minute": time - time % MINUTE, "prefix": prefix, "writes": 1, "bytes": 10}
        for time in times
        for prefix in ("/", "/a")
    ]
    put(directory, "hot_paths", minutes)


def day(ms: int) -> str:
    """The day of a time in epoch ms."""
    return datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()


def _day(name: str, row: dict[str, Any]) -> str:
    dated = name in derived.DATED
    return day(next(row[column] for column in _TIMES if column in row)) if dated else ""
