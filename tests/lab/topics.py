"""Kafka's own topic tool, run as an operator would, and what it prints read into values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_PARTITION = re.compile(
    r"\s*Topic: (?P<topic>\S+)\s+Partition: (?P<partition>\d+)\s+Leader: (?P<leader>-?\d+|none)"
    r"\s+Replicas: (?P<replicas>[\d,]*)\s+Isr: ?(?P<isr>[\d,]*)"
)
_OPTIONS = re.compile(r"Configs:[ ]?(?P<options>\S*)")


class RefusedError(RuntimeError):
    """The tool ended with an error; the message is what it printed."""


class Described(NamedTuple):
    """A partition as `--describe` prints it; `leader` is None for none."""

    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


class TopicCommand:
    """TopicCommand of one release: `run` runs it, and returns what it printed or raises RefusedError."""

    def __init__(self, run: Callable[..., str]) -> None:
        self._run = run

    def create(self, name: str, *, partitions: int, replicas: int) -> None:
        """Create a topic. Raises RefusedError."""
        self._run(
            "--create",
            "--partitions",
            str(partitions),
            "--replication-factor",
            str(replicas),
            "--topic",
            name,
        )

    def add_partitions(self, name: str, total: int) -> None:
        """Let a topic have `total` partitions. Raises RefusedError."""
        self._run("--alter", "--topic", name, "--partitions", str(total))

    def configure(self, name: str, key: str, value: str) -> None:
        """Set an option of a topic, as the tool does up to 2.8. Raises RefusedError."""
        self._run("--alter", "--topic", name, "--config", f"{key}={value}")

    def options(self, name: str) -> dict[str, str]:
        """The options of a topic that `--describe` prints on its first line. Raises RefusedError."""
        found = _OPTIONS.search(self._run("--describe", "--topic", name))
        pairs = filter(None, found["options"].split(",")) if found else ()
        return dict(pair.split("=", 1) for pair in pairs)

    def delete(self, name: str) -> None:
        """Delete a topic. Raises RefusedError."""
        self._run("--delete", "--topic", name)

    def describe(self, name: str) -> dict[int, Described]:
        """Each partition of a topic, by its id; none where there is no such topic. Raises RefusedError.

        From 3.0 on a broker is asked, which hears of a new topic a moment after ZooKeeper has it.
        """
        try:
            return parse(self._run("--describe", "--topic", name), name)
        except RefusedError as refusal:
            if "does not exist as expected" in str(refusal):
                return {}
            raise

    def describe_all(self) -> dict[str, dict[int, Described]]:
        """Each partition of each topic, by name and id. Raises RefusedError."""
        return parse_all(self._run("--describe"))


def parse(printed: str, topic: str) -> dict[int, Described]:
    """The partitions of `topic` in what `--describe` printed (0.8.2 to 3.9 print the same columns)."""
    return parse_all(printed).get(topic, {})


def parse_all(printed: str) -> dict[str, dict[int, Described]]:
    """The partitions of all topics in what `--describe` printed."""
    found: dict[str, dict[int, Described]] = {}
    for match in filter(None, map(_PARTITION.match, printed.splitlines())):
        found.setdefault(match["topic"], {})[int(match["partition"])] = Described(
            leader=_leader(match["leader"]),
            replicas=_ids(match["replicas"]),
            isr=_ids(match["isr"]),
        )
    return found


def _leader(text: str) -> int | None:
    return None if text in ("none", "-1") else int(text)


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part)
