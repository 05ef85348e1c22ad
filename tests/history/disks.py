"""Tables of brokers' disks for tests: a partition on two brokers, of which one lost what the other holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.history.writing import MINUTE, put

TOPIC = "orders"


def replica(broker: int, seen_ms: int, **more: Any) -> dict[str, Any]:
    """A replica of orders-0 with offsets 0 to 29 in two segments."""
    row = {"broker": broker, "directory": f"/mnt/kafka-{broker}", "topic": TOPIC, "partition": 0}
    return row | {"as_of_ms": seen_ms, "log_start": 0, "log_end": 40, "segments": 2, "bytes": 150} | more


def segment(broker: int, seen_ms: int, base: int, **more: Any) -> dict[str, Any]:
    """One of its segments: twenty records of twenty minutes from the minute `base` on."""
    row = {"broker": broker, "directory": f"/mnt/kafka-{broker}", "topic": TOPIC, "partition": 0}
    times = {"first_ms": seen_ms + base * MINUTE, "last_ms": seen_ms + (base + 20) * MINUTE}
    numbers = {"next_offset": base + 20, "bytes": 100, "records": 20, "codecs": ["lz4"], "damaged": 0}
    rest = {"as_of_ms": seen_ms, "changed_ms": seen_ms, "base_offset": base, "whole_bytes": 100}
    return row | rest | times | numbers | more


def write(directory: Path, seen_ms: int) -> None:
    """What a run saw at `seen_ms`: replicas that differ, a torn tail, and a segment that is not read yet."""
    difference = {
        "differs_at": 22,
        "differing": 3,
        "difference": "broker 1 holds none, broker 2 holds an entry",
    }
    compared = {"reference": 1, "compared_from": 0, "compared_upto": 40}
    put(directory, "replica_logs", [replica(1, seen_ms), replica(2, seen_ms, **compared, **difference)])
    unread = dict.fromkeys(("next_offset", "records", "codecs", "first_ms", "last_ms", "damaged"))
    torn = "at byte 40 the segment ends within an entry"
    segments = [
        segment(1, seen_ms, 0),
        segment(1, seen_ms, 20, bytes=50, tail=torn),
        segment(2, seen_ms, 0),
        segment(2, seen_ms, 20, bytes=50, **unread),
    ]
    put(directory, "log_segments", segments)
