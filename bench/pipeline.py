"""What the pipeline costs: all transactions of a server loaded and derived, a few more, and none.

The logs are a real server's (`bench.transactions`). The CPU time is that of the process, its JVM and Spark's
workers of Python, the session's start aside.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench import progress, side, transactions
from bench.result import Goal, Kept, Result
from bench.sizes import Size

_LIMIT_S = 3_600.0
_MORE = 490  # transactions that come later


def run(size: Size) -> Result:
    """Have a session bring the tables up from what a server wrote, and again after it wrote a little more."""
    count = size.transactions
    with tempfile.TemporaryDirectory(prefix="zkdash-bench-") as directory:
        logs = Path(directory, "logs")
        transactions.copy(count, logs)
        tables = Path(directory, "history", "bench")
        with side.Side("pipeline_runs", str(logs), directory, str(tables)) as session:
            start = session.heard(limit_s=_LIMIT_S)
            with progress.step("pipeline: loading and deriving"):
                session.tell(what="all")
                whole = session.heard(limit_s=_LIMIT_S)
            transactions.add(logs, count, _MORE)
            with progress.step(f"pipeline: {_MORE} more"):
                session.tell(what="more")
                more = session.heard(limit_s=_LIMIT_S)
            session.tell(what="nothing")
            nothing = session.heard(limit_s=_LIMIT_S)
    rate = count / whole["CPU, s"]
    figures = {"start of a session": start, f"{count:,} transactions": whole | {"transactions/CPU s": rate}}
    return Result(
        "pipeline",
        size.name,
        figures | {f"{_MORE} more": more, "nothing new": nothing},
        (
            Goal(
                "transactions a CPU second",
                rate,
                20_000,
                at_least=True,
                kept=Kept(5_000, 29),
                is_of_core=True,
            ),
            Goal("CPU s where nothing is new", nothing["CPU, s"], 1.0, is_of_core=True),
            Goal(f"CPU s of {_MORE} more", more["CPU, s"], 15.0, kept=Kept(50, 29), is_of_core=True),
        ),
    )
