"""An hour of a small cluster's history, as tables: an incident, a rebalance, a gap in what was read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from tests.history.writing import MINUTE, put, read

TOPICS = ("orders", "payments", "clicks")
GROUPS = ("billing", "audit", "search", "mail", "archive", "fraud")
GAP = range(30, 36)
BROKEN = range(10, 18)


def write(directory: Path, start_ms: int) -> None:
    """Sixty minutes from a full minute on, below the directory of a cluster; those of GAP were not read."""
    known = [at for at in range(60) if at not in GAP]
    read(directory, start_ms, start_ms + (GAP.start - 1) * MINUTE)
    read(directory, start_ms + GAP.stop * MINUTE, start_ms + 59 * MINUTE, zxid=10_000)

    def minutes(*rows: tuple[int, dict[str, Any]]) -> list[dict[str, Any]]:
        return [{"minute": start_ms + at * MINUTE, **row} for at, row in rows]

    broken = {"partitions": 6, "partition_seconds": 300.0, "offline_partitions": 1, "offline_seconds": 20.0}
    put(directory, "under_replicated_minutes", minutes(*((at, broken) for at in BROKEN)))
    churn = (
        (at, {"topic": topic, "changes": 2 + place}) for place, topic in enumerate(TOPICS) for at in (10, 17)
    )
    put(directory, "leader_churn", minutes(*churn))
    begun = [
        {"group": group, "from_ms": start_ms + at * MINUTE, "from_zxid": at, "moved": 3}
        for at, group in ((5, "billing"), (20, "billing"), (20, "audit"), (44, "search"))
    ]
    put(directory, "rebalances", begun)
    of = {"topic": "orders", "part": "0"}
    rates, lags = [], []
    for place, group in enumerate(GROUPS):
        for at in known:
            swing = 1 + math.sin((at + 9 * place) / 7) / 3
            rates.append(
                (at, {**of, "group": group, "per_second": 200.0 * swing / (1 + place), "commits": 6})
            )
            lags.append((at, {**of, "group": group, "lag": round(900 * swing * (1 + place % 3))}))
    put(directory, "offset_rates", minutes(*rates))
    put(directory, "lag_estimates", minutes(*lags))
    paths = (("/", 120), ("/consumers", 100), ("/consumers/billing", 60), ("/brokers", 15))
    hot = ((at, {"prefix": path, "writes": n + at % 5, "bytes": 30 * n}) for path, n in paths for at in known)
    put(directory, "hot_paths", minutes(*hot))
    disk = {"broker": 1, "partitions": 2, "segments": 4}
    sizes = (("orders", 9_000), ("clicks", 4_000))
    usage = ((at, {**disk, "topic": topic, "bytes": size + at}) for topic, size in sizes for at in known)
    put(directory, "disk_usage", minutes(*usage))
    said = [
        {
            "time": start_ms + at * MINUTE,
            # One transaction before any watcher began: what came after that a Timeline has from memory.
            "zxid": 1,
            "op_index": at,
            "area": "topics",
            "what": f"partition orders-{at % 3} lost replica 3 from ISR",
            "before": "1, 2, 3",
            "after": "1, 2",
            "path": f"/brokers/topics/orders/partitions/{at % 3}/state",
            "topic": "orders",
            "partition": at % 3,
        }
        for at in known
    ]
    put(directory, "timeline", said)
