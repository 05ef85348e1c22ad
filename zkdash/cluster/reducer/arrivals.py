"""A batch sorted by what its paths mean: what arrived for each topic, each group, each singleton."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from zkdash.cluster.model.known import Read
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import ZNODE_KINDS, Kind

_OF_TOPICS = frozenset(row.kind for row in ZNODE_KINDS if row.area == "topics")
_OF_GROUPS = frozenset(row.kind for row in ZNODE_KINDS if row.area == "groups")
_OTHER = Kind.OTHER
_UNTYPED = frozenset({Kind.OTHER, Kind.PARTITION})
_SINGLE = frozenset(row.kind for row in ZNODE_KINDS if row.is_singleton)


class Arrival(NamedTuple):
    """One path of the batch: `key` and `part` as `znode_kinds.Place` has them."""

    kind: Kind
    key: str
    part: str
    path: str
    read: Read


class Arrivals(NamedTuple):
    """A batch by topic name, by group name, by broker id; singletons in `others`; in `entities` what is
    known by its path alone; in `untyped` directories and the like. `deletions` are the children of
    /admin/delete_topics.
    """

    topics: dict[str, list[Arrival]]
    groups: dict[str, list[Arrival]]
    brokers: dict[int, Arrival]
    deletions: dict[str, Read]
    others: dict[Kind, Arrival]
    misnamed: list[Arrival]
    entities: list[Arrival]
    untyped: list[tuple[str, Read]]


def sort(changed: Mapping[str, Read]) -> Arrivals:
    """Sort a batch's paths."""
    sorted_ = Arrivals({}, {}, {}, {}, {}, [], [], [])
    topics, groups = sorted_.topics, sorted_.groups
    new = tuple.__new__  # half a million of them in a first load
    for path, read in changed.items():
        kind, name, key, part = paths.locate(path)
        if kind in _UNTYPED:
            if kind == _OTHER:
                sorted_.untyped.append((path, read))
            continue
        arrival = new(Arrival, (kind, key, part, path, read))
        if kind in _OF_TOPICS:
            bucket = topics.get(name)
            if bucket is None:
                topics[name] = [arrival]
            else:
                bucket.append(arrival)
        elif kind in _OF_GROUPS:
            groups.setdefault(name, []).append(arrival)
        else:
            _sort_rare(sorted_, name, arrival)
    return sorted_


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
