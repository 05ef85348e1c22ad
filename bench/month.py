"""What is asked of a month of history: the last hour of Trends, what happened at one path, where a time lies.

A real `serve` is asked, of tables on this machine and of the same in a store that answers late; where a time
lies is asked of the tables themselves. Then the pipeline brings them up by the day that follows.
"""

from __future__ import annotations

import http.client
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit

from bench import month_logs, month_tables, progress, served, serving, side, usage
from bench.history import BEGAN
from bench.month_tables import Month
from bench.result import Goal, Number, Result
from bench.sizes import Size
from tests.lab import s3
from tests.serving import Served
from zkdash.history.queries import neighbours, trends
from zkdash.history.queries.window import Window
from zkdash.history.store import tables
from zkdash.history.store.delta import LOG, Table
from zkdash.time_units import DAY_MS, HOUR_MS, MINUTE_MS
from zkdash.web.history import spans

_TRENDS_MS: Final = 300.0
_PATH_MS: Final = 200.0
_MORE_MIB: Final = 512.0
_AFAR_S: Final = 2.0
_LATENCY_S: Final = 0.05
_DAY_S: Final = 600.0
_LIMIT_S: Final = 3_600.0
_TIMES: Final = 15
_AT_ONCE: Final = 16
_HOME: Final = "/c/default/"
_NEVER: Final = tuple(f"/brokers/never/{number}" for number in range(5))


def run(size: Size) -> Result:
    """Write the tables, serve a small cluster beside them, and ask."""
    with (
        tempfile.TemporaryDirectory(prefix="zkdash-bench-") as directory,
        # pages tell nothing of transactions that the server does not know yet
        served.server(size.few, heap_mb=size.heap_mb, zxid=size.month_changes + 1) as server,
    ):
        began = time.monotonic()
        with progress.step(f"month: tables of {size.month_changes} changes"):
            month = month_tables.write(
                Path(directory, "default"), size.whole, size.month_changes, size.month_days
            )
        figures: dict[str, Number] = {"rows written, s": time.monotonic() - began}
        with serving.serving(server.address, size.few.topics, history=Path(directory)) as process:
            figures |= _of_this_machine(process, month)
        figures["the last transaction of a time, ms"] = _until(Path(directory, "default"), month)
        with progress.step(f"month: a store that answers {_LATENCY_S * 1000:.0f} ms late"):
            afar = _of_a_store(Path(directory), server.address, size, month)
        day = _of_a_day_more(Path(directory, "default"), size, month)
    sides = {"tables of this machine": figures, "a store that answers 50 ms late": afar, "a day more": day}
    return Result("month", size.name, sides, _goals(figures, afar, day))


def _goals(figures: dict[str, Number], afar: dict[str, Number], day: dict[str, Number]) -> tuple[Goal, ...]:
    return (
        Goal("a day's derivation, s", day["derivation, s"], _DAY_S, is_of_core=True),
        Goal("last hour of Trends, ms", figures["last hour of Trends, ms"], _TRENDS_MS, is_of_core=True),
        Goal("a path's timeline, ms", figures["a path's timeline, ms"], _PATH_MS, is_of_core=True),
        Goal("memory that pages take for it, MiB", figures["memory for it, MiB"], _MORE_MIB),
        Goal("last hour of Trends from afar, s", afar["last hour of Trends, ms"] / 1000, _AFAR_S),
    )


def _of_this_machine(process: Served, month: Month) -> dict[str, Number]:
    before = usage.peak_mib(process.pid)
    return {
        "rows": sum(month.rows.values()),
        "first look at Trends, ms": _ms(process, next(_hours(month))),
        "last hour of Trends, ms": _median(process, _hours(month)),
        "a path's timeline, ms": _median(process, map(_timeline, month.paths)),
        "a path that never changed, ms": _median(process, map(_timeline, _NEVER)),
        "memory for it, MiB": usage.peak_mib(process.pid) - before,
    }


def _until(cluster: Path, month: Month) -> float:
    """What `?at=` asks first, of times from the last hour to the first ones; ms."""
    took = []
    for number in range(_TIMES):
        time_ms = month.to_ms - HOUR_MS - (month.to_ms - BEGAN) * number // _TIMES
        with tables.Tables(cluster, ("changes",)) as changes:
            began = time.perf_counter()
            zxid = neighbours.last_until(changes, time_ms)
            took.append((time.perf_counter() - began) * 1000)
        if zxid is None:
            raise side.SideFailedError(f"no transaction is told until {time_ms}")
    return statistics.median(took)


def _of_a_store(directory: Path, zookeeper: str, size: Size, month: Month) -> dict[str, Number]:
    """Of what Trends reads: all logs, and the files that the hours which are asked for may be in."""
    window = Window(month.to_ms - 2 * HOUR_MS, month.to_ms, MINUTE_MS)
    with (
        tempfile.TemporaryDirectory(prefix="zkdash-bench-") as beside,
        s3.bucket(Path(beside), latency_s=_LATENCY_S) as bucket,
    ):
        with ThreadPoolExecutor(_AT_ONCE) as uploads:
            for done in [uploads.submit(_put, bucket, directory, path) for path in _read(directory, window)]:
                done.result()
        with serving.serving(zookeeper, size.few.topics, bucket.url, bucket.environment) as process:
            return {
                "first look at Trends, ms": _ms(process, next(_hours(month))),
                "last hour of Trends, ms": _median(process, _hours(month)),
            }


def _of_a_day_more(cluster: Path, size: Size, month: Month) -> dict[str, Number]:
    """What the pipeline takes for one more day as those of the month.

    The month has no logs: its last day is given those of a cluster that comes up, whose znodes and open
    intervals the derivation then carries into the day that is measured.
    """
    changes = size.month_changes // size.month_days
    month_tables.mark_derived(cluster, month)
    with tempfile.TemporaryDirectory(prefix="zkdash-bench-") as scratch:
        logs = Path(scratch, "logs")
        with progress.step("month: logs of the cluster that it tells of"):
            upto = month_logs.write_tree(logs, size.whole, month.upto, month.to_ms - DAY_MS)
        with side.Side("pipeline_runs", str(logs), scratch, str(cluster)) as session:
            session.heard(limit_s=_LIMIT_S)
            with progress.step("month: loading and deriving what the cluster holds"):
                session.tell(what="the cluster")
                session.heard(limit_s=_LIMIT_S)
            with progress.step(f"month: a day of {changes} transactions more"):
                month_logs.write_day(logs, size.whole, changes, upto, month.to_ms)
            with progress.step("month: loading and deriving that day"):
                session.tell(what="a day")
                took = session.heard(limit_s=_LIMIT_S)
    return {"transactions": changes, **took, "transactions/CPU s": changes / took["CPU, s"]}


def _read(directory: Path, window: Window) -> Iterator[Path]:
    """The files that a look at this window of Trends may open."""
    cluster = directory / "default"
    names = [name for name in trends.TABLES if Table(cluster / name).has_log]
    for name, files in tables.listed_files(tables.opened(cluster, names), trends.bounds(window)).items():
        yield from (path for path in (cluster / name / LOG).iterdir() if path.is_file())
        yield from (cluster / name / file.path for file in files)


def _put(bucket: s3.Bucket, directory: Path, path: Path) -> None:
    key = path.relative_to(directory).as_posix()
    where = urlsplit(bucket.environment["AWS_ENDPOINT_URL"])
    connection = http.client.HTTPConnection(where.netloc, timeout=s3.START_LIMIT_S)
    connection.request("PUT", f"/{s3.BUCKET}/{key}", path.read_bytes())
    if connection.getresponse().status != http.HTTPStatus.OK:
        raise side.SideFailedError(f"the store took no {key}")
    connection.close()


def _hours(month: Month) -> Iterator[str]:
    """Trends of the last hour, as it is asked for from one minute to the next: each another question."""
    for minutes in range(1, _TIMES + 1):
        to_ms = month.to_ms - minutes * MINUTE_MS
        asked = {"from": spans.written(to_ms - HOUR_MS), "to": spans.written(to_ms)}
        yield f"{_HOME}trends/?{urlencode(asked)}"


def _timeline(path: str) -> str:
    return f"{_HOME}timeline/?{urlencode({'path': path})}"


def _median(process: Served, paths: Iterable[str]) -> float:
    """What pages take, ms."""
    return statistics.median(_ms(process, path) for path, _ in zip(paths, range(_TIMES), strict=False))


def _ms(process: Served, path: str) -> float:
    began = time.perf_counter()
    answer = process.get(path)
    took = (time.perf_counter() - began) * 1000
    if answer.status != 200 or "cannot be read" in answer.text:
        raise side.SideFailedError(f"{path} answered {answer.status}: {answer.text[:3000]}")
    return took
