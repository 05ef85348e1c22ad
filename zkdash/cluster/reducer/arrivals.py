"""A batch sorted by what its paths mean: what arrived for each topic, each group, each singleton."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from zkdash.cluster.model.known import Read
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import ZNODE_KINDS, Kind, Place

_OF_TOPICS = frozenset(row.kind for row in ZNODE_KINDS if row.area == "topics")
_OF_GROUPS = frozenset(row.kind for row in ZNODE_KINDS if row.area == "groups")
_OTHER, _PARTITION, _STATE = Kind.OTHER, Kind.PARTITION, Kind.STATE
_CLAIMS = frozenset({Kind.OWNER, Kind.OFFSET})
_SINGLE = frozenset(row.kind for row in ZNODE_KINDS if row.is_singleton)


class Arrival(NamedTuple):
    """One path of the batch: `key` and `part` as `znode_kinds.Place` has them."""

    kind: Kind
    key: str
    part: str
    path: str
    read: Read


class OfTopic(NamedTuple):
    """What arrived for one topic: the states by partition, and all else of it."""

    states: dict[int, Read]
    others: list[Arrival]


class Arrivals(NamedTuple):
    """A batch by topic name, by group name, by broker id; singletons in `others`; in `entities` what is
    known by its path alone; in `untyped` directories and the like. `deletions` are the children of
    /admin/delete_topics.
    """

    topics: dict[str, OfTopic]
    groups: dict[str, list[Arrival]]
    brokers: dict[int, Arrival]
    deletions: dict[str, Read]
    others: dict[Kind, Arrival]
    misnamed: list[Arrival]
    entities: list[Arrival]
    untyped: list[tuple[str, Read]]


# What follows a topic's directory of partitions: a partition's directory (-1), or the state of a partition.
_IN_DIRECTORY: Final = {str(number): -1 for number in range(1024)} | {
    f"{number}/state": number for number in range(1024)
}
_NO_PATH: Final = "\0"
_new = tuple.__new__


def sort(changed: Mapping[str, Read]) -> Arrivals:
    """Sort a batch's paths.

    Nearly all of a first load are partitions and their states, topic by topic, and what groups claim of a
    topic, one after the other: their topic, or their group, is located once.
    """
    sorted_ = Arrivals({}, {}, {}, {}, {}, [], [], [])
    in_directory, locate = _IN_DIRECTORY.get, paths.locate
    directory, start = _NO_PATH, 0  # that of the topic whose partition, or its state, came last
    states: dict[int, Read] | None = None  # that topic's, once one arrived
    claims, begin = _NO_PATH, 0  # where the owner or the offset lies that came last
    kind, of = _OTHER, ""  # what lies there, and of which topic
    arrivals: list[Arrival] = []  # of its group
    for path, read in changed.items():
        if path.startswith(directory):
            number = in_directory(path[start:])
            if number == -1:
                continue
            if number is not None and states is not None:
                states[number] = read
                continue
        elif path.startswith(claims) and "/" not in (part := path[begin:]):
            arrivals.append(_new(Arrival, (kind, of, part, path, read)))
            continue
        place = locate(path)
        if place.kind == _STATE:
            states = _of_topic(sorted_.topics, place.name).states
            states[int(place.key)] = read
        elif place.kind == _PARTITION:
            states = None
        else:
            _sort_other(sorted_, place, path, read)
            if place.kind in _CLAIMS:
                kind, name, of, part = place
                arrivals = sorted_.groups[name]
                begin = len(path) - len(part)
                claims = path[:begin]
            continue
        directory = f"{paths.partitions(place.name)}/"
        start = len(directory)
    return sorted_


def _sort_other(sorted_: Arrivals, place: Place, path: str, read: Read) -> None:
    """Whatever is no partition and no state of one."""
    kind, name, key, part = place
    if kind == _OTHER:
        sorted_.untyped.append((path, read))
    elif kind in _OF_GROUPS:
        sorted_.groups.setdefault(name, []).append(_new(Arrival, (kind, key, part, path, read)))
    elif kind in _OF_TOPICS:
        _of_topic(sorted_.topics, name).others.append(_new(Arrival, (kind, key, part, path, read)))
    else:
        _sort_rare(sorted_, name, Arrival(kind, key, part, path, read))


def _of_topic(topics: dict[str, OfTopic], name: str) -> OfTopic:
    bucket = topics.get(name)
    if bucket is None:
        bucket = topics[name] = OfTopic({}, [])
    return bucket


def _sort_rare(sorted_: Arrivals, name: str, arrival: Arrival) -> None:
    """Whatever there are few of."""
    kind = arrival.kind
    if kind == Kind.DELETION:
        sorted_.deletions[name] = arrival.read
    elif kind == Kind.BROKER:
        sorted_.brokers[int(name)] = arrival
    elif kind == Kind.MISNAMED:
        sorted_.misnamed.append(arrival._replace(part=name))
    elif kind in _SINGLE:
        sorted_.others[kind] = arrival
    else:
        sorted_.entities.append(arrival)
