"""What a page is about: a topic or one partition of it, a group, a broker, a znode; as addresses name it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec

from zkdash.kafka import paths
from zkdash.web.frame import links, shapes
from zkdash.web.frame.parameters import Given

KINDS: Final = ("topic", "group", "broker", "path")
NAMES: Final = frozenset({*KINDS, "partition"})
SCHEMAS: Final = {
    "topic": shapes.TEXT,
    "partition": shapes.COUNT,
    "group": shapes.TEXT,
    "broker": shapes.COUNT,
    "path": shapes.TEXT,
}


class Subject(msgspec.Struct, frozen=True):
    """One thing of a cluster: `kind` is one of KINDS, `partition` one of a topic, None for all of it."""

    kind: str
    name: str
    partition: int | None = None

    @property
    def words(self) -> str:
        """It in words: “partition 3 of topic orders”."""
        if self.kind == "path":
            return f"znode {self.name}"
        whole = f"{self.kind} {self.name}"
        return whole if self.partition is None else f"partition {self.partition} of {whole}"

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """It as parameters of an address."""
        own = ((self.kind, self.name),)
        return own if self.partition is None else (*own, ("partition", str(self.partition)))

    @property
    def paths(self) -> tuple[str, ...]:
        """The znodes that tell of it, each with all below."""
        return _PATHS[self.kind](self)

    @property
    def page(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Its page: the route within the cluster, quoted, and what is asked of it."""
        if self.kind == "path":
            return "znodes/" + "/".join(map(links.segment, self.name.split("/")[1:])), ()
        row = () if self.partition is None else (("q", str(self.partition)),)
        return f"{self.kind}s/{links.segment(self.name)}/", row

    def holds(self, path: str) -> bool:
        """Whether a znode tells of it."""
        return any(path == own or path.startswith(f"{own.rstrip('/')}/") for own in self.paths)


def of_topic(name: str, partition: int | None = None) -> Subject:
    return Subject("topic", name, partition)


def of_group(name: str) -> Subject:
    return Subject("group", name)


def of_broker(name: str) -> Subject:
    return Subject("broker", name)


def of_path(path: str) -> Subject:
    return Subject("path", path)


def read(given: Given, kinds: Collection[str] = KINDS) -> Subject | None:
    """What an address names, of some kinds; None for nothing. Notes say what is not understood."""
    named = [(kind, given.last_as_written(kind)) for kind in kinds if given.last_as_written(kind)]
    partition = given.last("partition")
    if not named:
        if partition:
            given.notes.append("A partition is one of a topic: name that too.")
        return None
    kind, name = named[0]
    given.notes.extend(f"Of one thing at a time: {other} is left out." for other, _ in named[1:])
    if kind == "broker" and not paths.is_id(name):
        given.notes.append(f"“{name}” is not a broker’s id.")
        return None
    if kind == "path" and not name.startswith("/"):
        given.notes.append(f"“{name}” is not the path of a znode: it begins with a slash.")
        return None
    if partition and (kind != "topic" or not paths.is_id(partition)):
        given.notes.append(f"“{partition}” is not the number of a topic’s partition.")
        partition = ""
    return Subject(kind, name, int(partition) if partition else None)


def of_pairs(given: dict[str, str]) -> Subject | None:
    """What a canonical query names."""
    for kind in KINDS:
        if kind in given:
            partition = given.get("partition")
            return Subject(kind, given[kind], None if partition is None else int(partition))
    return None


def _topic_paths(subject: Subject) -> tuple[str, ...]:
    own = paths.topic(subject.name)
    if subject.partition is not None:
        own = paths.state(subject.name, subject.partition).rpartition("/")[0]
    return own, paths.topic_config(subject.name), paths.deletion(subject.name)


def _broker_paths(subject: Subject) -> tuple[str, ...]:
    return f"{paths.BROKER_IDS}/{subject.name}", f"{paths.BROKER_CONFIGS}/{subject.name}"


def _own_path(subject: Subject) -> tuple[str, ...]:
    """The root holds everything, and so is about nothing."""
    return () if subject.name == "/" else (subject.name,)


def _group_paths(subject: Subject) -> tuple[str, ...]:
    return (paths.group(subject.name),)


_PATHS: Final[Mapping[str, Callable[[Subject], tuple[str, ...]]]] = {
    "topic": _topic_paths,
    "group": _group_paths,
    "broker": _broker_paths,
    "path": _own_path,
}
