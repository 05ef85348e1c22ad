"""Transaction logs decoded on Spark, beside ZooKeeper's own TxnLogToolkit on the same transactions.

The logs are a real server's (`bench.transactions`). Both sides discard what they find, and neither counts its
start: Spark is asked once before it is timed, the toolkit's is the difference of two runs, over all
transactions and over a tenth. They are timed in turns, and the least time of each counts: Spark takes two
cores, and feels whatever else runs for a moment.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from bench import progress, side, transactions
from bench.result import Goal, Result
from bench.sizes import Size
from zkdash import java
from zkdash.demo.zookeeper import jvm
from zkdash.formats.txnlog import frames

_LIMIT_S = 1_200.0
_TURNS = 2
_TOOL = "org.apache.zookeeper.server.persistence.TxnLogToolkit"


def run(size: Size) -> Result:
    """Measure each side in a process of its own."""
    logs = transactions.logs(size.transactions)
    with tempfile.TemporaryDirectory(prefix="zkdash-bench-") as directory:
        whole, tenth = (Path(directory, name) for name in ("log.1", "log.2"))
        sizes = _join(logs, whole, tenth)
        with side.Side("txnlog_reader", str(logs), directory) as reader:
            rows = reader.heard(limit_s=_LIMIT_S)["rows"]
            turns = [_turn(reader, Path(directory), whole, tenth) for _ in range(_TURNS)]
    spark_s, seconds = map(min, zip(*turns, strict=True))
    rate, tool_rate = sizes[0] / spark_s, (sizes[0] - sizes[1]) / max(seconds, 1e-3)
    return Result(
        "txnlog",
        size.name,
        {
            "zkdash": {
                "transactions": sizes[0],
                "rows": rows,
                "s": spark_s,
                "transactions/s": rate,
            },
            "TxnLogToolkit": {
                "transactions": sizes[0] - sizes[1],
                "s": seconds,
                "transactions/s": tool_rate,
            },
        },
        (Goal("times the toolkit's steady rate", rate / tool_rate, 2, at_least=True),),
    )


def _turn(reader: side.Side, directory: Path, whole: Path, tenth: Path) -> tuple[float, float]:
    """The seconds of Spark, and those of the toolkit without its start."""
    with progress.step("txnlog: Spark local[2]"):
        reader.tell()
        spark_s: float = reader.heard(limit_s=_LIMIT_S)["seconds"]
    with progress.step("txnlog: TxnLogToolkit"):
        return spark_s, _toolkit(directory, whole) - _toolkit(directory, tenth)


def _join(logs: Path, whole: Path, tenth: Path) -> tuple[int, int]:
    """All transactions as one log, a tenth as another, as the toolkit takes one file; how many each holds."""
    found: list[bytes] = []
    for log in sorted((logs / "version-2").glob("log.*"), key=lambda log: int(log.suffix[1:], 16)):
        data = log.read_bytes()
        header = data[: frames.HEADER_SIZE]
        found += [
            data[each.start - 12 : each.end + 1]
            for each in frames.frames(data)
            if isinstance(each, frames.Frame)
        ]
    some = found[: len(found) // 10]
    for path, bodies in ((whole, found), (tenth, some)):
        path.write_bytes(header + b"".join(bodies))
    return len(found), len(some)


def _toolkit(directory: Path, log: Path) -> float:
    """Seconds that the toolkit takes to print a log, its start included."""
    command: list[str | Path] = [
        java.find().path,
        "-Xmx256m",
        "-Dlog4j2.level=OFF",
        "-cp",
        ":".join(map(str, jvm.jars())),
    ]
    started = time.perf_counter()
    subprocess.run(
        [*command, _TOOL, log], stdout=subprocess.DEVNULL, check=True, timeout=_LIMIT_S, cwd=directory
    )
    return time.perf_counter() - started
