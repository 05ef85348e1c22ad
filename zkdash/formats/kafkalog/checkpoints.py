"""The texts beside the segments: where a broker may go on, epochs of leaders, whose directory it is.

Sources: kafka.server.checkpoints.{OffsetCheckpointFile, LeaderEpochCheckpointFile}, BrokerMetadataCheckpoint.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from zkdash.formats.problems import Problem

T = TypeVar("T")

_NUMBER = re.compile(r"-?\d{1,19}")


class Checkpoint(NamedTuple):
    """A line of recovery-point-, replication-, cleaner- and log-start-offset-checkpoint."""

    topic: str
    partition: int
    offset: int


class Epoch(NamedTuple):
    """A line of leader-epoch-checkpoint: the leader's epoch from this offset on."""

    epoch: int
    start_offset: int


def offsets(data: bytes) -> list[Checkpoint] | Problem:
    """A checkpoint of all partitions of a directory. One with a wrong line is not used, as in Kafka."""
    return _lines(data, _checkpoint)


def epochs(data: bytes) -> list[Epoch] | Problem:
    """A partition's leader-epoch-checkpoint (0.11 and later)."""
    return _lines(data, _epoch)


def properties(data: bytes) -> dict[str, str]:
    """Java's properties: meta.properties (broker.id, cluster.id), partition.metadata has lines alike."""
    entries = {}
    for line in data.decode("utf-8", errors="replace").splitlines():
        stripped = line.strip()
        if stripped and stripped[0] not in "#!":
            name, _, value = re.sub(r"\s*[=:]\s*|\s+", "=", stripped, count=1).partition("=")
            entries[name] = value.replace("\\:", ":").replace("\\=", "=")
    return entries


def _lines(data: bytes, kind: Callable[[list[str]], T]) -> list[T] | Problem:
    """Version 0, the number of lines, the lines; a file that nobody wrote to yet holds none, as in Kafka."""
    if not data:
        return []
    lines = data.decode("utf-8", errors="replace").splitlines(keepends=True)
    at = 0
    entries: list[T] = []
    count: int | None = None
    for number, line in enumerate(lines):
        try:
            if number == 0:
                _version(line)
            elif number == 1:
                count = _number(line.strip())
            else:
                entries.append(kind(line.split()))
        except ValueError as error:
            return Problem(at, f"line {number + 1}: {error}")
        at += len(line.encode())
    if count is None or len(entries) != count:
        return Problem(len(data), f"{len(entries)} lines where {count} were told", torn=True)
    return entries


def _version(line: str) -> None:
    if line.strip() != "0":
        raise ValueError("a version other than 0")


def _checkpoint(words: list[str]) -> Checkpoint:
    if len(words) != 3:
        raise ValueError("not a topic, a partition and an offset")
    return Checkpoint(words[0], _number(words[1]), _number(words[2]))


def _epoch(words: list[str]) -> Epoch:
    if len(words) != 2:
        raise ValueError("not an epoch and an offset")
    return Epoch(_number(words[0]), _number(words[1]))


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError("not a number")
    return int(text)
