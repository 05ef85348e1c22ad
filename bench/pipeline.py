"""What the pipeline costs: all transactions of a server loaded and derived, a few more, and none.

A real server writes the logs: states of partitions that change all the time, and offsets that groups commit.
The CPU time is that of the process, its JVM and Spark's workers of Python, the session's start aside.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import churn, progress, side, transactions, tree, wire
from bench.result import Goal, Kept, Result
from bench.sizes import Size

_LIMIT_S = 3_600.0
_TOPICS, _PARTITIONS, _GROUPS = 50, 20, 20
_LOGS = 18
_MORE = 490  # transactions that come later


def run(size: Size) -> Result:
    """Have a server write, and a session bring the tables up; write little more, and bring them up again."""
    count = size.transactions
    with tempfile.TemporaryDirectory(prefix="zkdash-bench-") as directory:
        logs = Path(directory, "logs")
        requests = _requests()
        with progress.step(f"pipeline: writing {count} transactions"):
            transactions.write(logs, itertools.islice(requests, count), each=max(count // _LOGS, 1_000))
        tables = Path(directory, "history", "bench")
        with side.Side("pipeline_runs", str(logs), directory, str(tables)) as session:
            start = session.heard(limit_s=_LIMIT_S)
            with progress.step("pipeline: loading and deriving"):
                session.tell(what="all")
                whole = session.heard(limit_s=_LIMIT_S)
            transactions.write(logs, itertools.islice(requests, _MORE), each=max(count // _LOGS, 1_000))
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


def _requests() -> Iterator[tuple[int, bytes]]:
    def made(path: str, data: bytes = b"") -> tuple[int, bytes]:
        return wire.CREATE, churn.create(path.encode(), data)

    states, offsets = [], []
    for path in ("/brokers", "/brokers/topics", "/consumers"):
        yield made(path)
    for topic in range(_TOPICS):
        root = f"/brokers/topics/{tree.topic_name(topic)}"
        replicas = ",".join(f'"{number}":[1,2,3]' for number in range(_PARTITIONS))
        yield made(root, f'{{"version":1,"partitions":{{{replicas}}}}}'.encode())
        yield made(f"{root}/partitions")
        for partition in range(_PARTITIONS):
            yield made(f"{root}/partitions/{partition}")
            states.append(f"{root}/partitions/{partition}/state")
            yield made(states[-1], tree.state(1, [1, 2, 3]))
    for group in range(_GROUPS):
        read = tree.topic_name(group)
        for path in ("", "/offsets", f"/offsets/{read}"):
            yield made(f"/consumers/group-{group}{path}")
        for partition in range(_PARTITIONS):
            offsets.append(f"/consumers/group-{group}/offsets/{read}/{partition}")
            yield made(offsets[-1], b"0")
    for epoch in itertools.count(1):
        data = tree.state(epoch % 3 + 1, [1, 2, 3][: epoch % 3 + 1], leader_epoch=epoch)
        for state, offset in zip(states, itertools.cycle(offsets), strict=False):
            yield wire.SET_DATA, wire.set_data(state.encode(), data)
            yield wire.SET_DATA, wire.set_data(offset.encode(), b"%d" % epoch)
