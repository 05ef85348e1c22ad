"""Which znodes' paths go on like the beginning of one: by what the state knows, never by a walk of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.values import Assignment
from zkdash.kafka.znode_kinds import ZNODE_KINDS

_PATTERNS = tuple(tuple(row.path.split("/")[1:]) for row in ZNODE_KINDS)


def completions(state: ClusterState, begun: str) -> list[str]:
    """Paths that a path can go on to, one name further: "/brokers/to" to "/brokers/topics".

    Names that the state does not keep by themselves (members, notifications) are not completed. A directory
    that is told need not be there.
    """
    *above, last = begun.split("/")[1:]
    base = "".join(f"/{name}" for name in above)
    depth = len(above)
    places = {pattern[: depth + 1] for pattern in _PATTERNS if len(pattern) > depth}
    return [
        f"{base}/{name}"
        for place in places
        if all(map(_fits, place, above))
        for name in _names(state, place, above)
        if name.startswith(last)
    ]


def _fits(segment: str, name: str) -> bool:
    return segment.startswith("<") or segment == name


def _names(state: ClusterState, place: tuple[str, ...], above: list[str]) -> Iterable[str]:
    """The names that may stand at the end of a place."""
    if place == ("brokers", "topics", "<topic>", "partitions", "<partition>"):
        return _partitions(state, above[2])
    if place in _KEPT:
        return _KEPT[place](state)
    return () if place[-1].startswith("<") else place[-1:]


def _partitions(state: ClusterState, name: str) -> Iterable[str]:
    topic = state.topics.get(name)
    assignment = topic.assignment if topic else None
    return map(str, assignment.partitions) if isinstance(assignment, Assignment) else ()


def _configured(state: ClusterState) -> Iterable[str]:
    return (name for name, topic in state.topics.items() if topic.config is not None)


_KEPT: Final[Mapping[tuple[str, ...], Callable[[ClusterState], Iterable[str]]]] = {
    ("brokers", "topics", "<topic>"): lambda state: state.topics.keys(),
    ("brokers", "ids", "<broker>"): lambda state: map(str, state.brokers),
    ("config", "topics", "<topic>"): _configured,
    ("admin", "delete_topics", "<topic>"): lambda state: state.deletion_znodes.keys(),
    ("consumers", "<group>"): lambda state: state.groups.keys(),
}
