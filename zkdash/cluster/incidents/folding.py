"""Fold changes into incidents, one after the other: (incidents, changes) to incidents.

The cost follows the changes. Commits of offsets are no changes (`cluster.changes`), and so cost nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from zkdash.cluster.changes import Change
from zkdash.cluster.incidents import brokers, groups, requests, states
from zkdash.cluster.incidents.book import Book, due
from zkdash.cluster.incidents.incident import Incidents
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import Kind, Place

# Takes a change about a place; False where it belongs to no incident.
Handler = Callable[[Book, Change, Place], bool]

_HANDLERS: Final[Mapping[Kind, Handler]] = {
    Kind.BROKER: brokers.registration,
    Kind.CONTROLLER: brokers.controller,
    Kind.CONTROLLER_EPOCH: brokers.epoch,
    Kind.STATE: states.state,
    Kind.REASSIGNMENT: requests.reassignment,
    Kind.ELECTION: requests.election,
    Kind.DELETION: requests.deletion,
    Kind.TOPIC: requests.topic,
    Kind.TOPIC_CONFIG: requests.config,
    Kind.MEMBER: groups.member,
}
# Causes before effects: within one reading times come from two clocks, ZooKeeper's and ours.
_RANKS: Final = {
    kind: rank
    for rank, kind in enumerate(
        (
            Kind.BROKER,
            Kind.CONTROLLER,
            Kind.CONTROLLER_EPOCH,
            Kind.REASSIGNMENT,
            Kind.ELECTION,
            Kind.TOPIC,
            Kind.DELETION,
            Kind.TOPIC_CONFIG,
            Kind.STATE,
            Kind.GROUP,
            Kind.MEMBER,
        )
    )
}
# What ends a request is removed when all that it asked for is done.
_REQUESTS: Final = {Kind.REASSIGNMENT, Kind.ELECTION, Kind.DELETION}


def fold(incidents: Incidents, changes: Iterable[Change]) -> Incidents:
    """The incidents after these changes, the oldest first."""
    book = Book(incidents)
    for change in changes:
        book.tick(change.when)
        if not _take(book, change):
            book.single(change)
    return book.close()


def expire(incidents: Incidents, now_ms: int) -> Incidents:
    """The incidents at a moment: what was quiet for long enough is over. The same object where nothing is."""
    if not any(now_ms > due(incident) for incident in incidents.open):
        return incidents
    book = Book(incidents)
    book.tick(now_ms)
    return book.close()


def in_order(reading: Iterable[Change]) -> tuple[Change, ...]:
    """The changes of one reading as they are to be folded: causes first, the registrations that went first
    of all, else by time."""
    return tuple(sorted(reading, key=_rank))


def _rank(change: Change) -> tuple[int, bool, int]:
    kind = paths.locate(change.path).kind
    rank = _RANKS.get(kind, len(_RANKS))
    if kind in _REQUESTS and change.after is None and "marked" not in change.what:
        rank = len(_RANKS) + 1
    return rank, change.after is not None, change.when


def _take(book: Book, change: Change) -> bool:
    if change.transitions:
        return states.flood(book, change)
    if change.claims:
        return groups.owners(book, change)
    if change.area == "problems":
        return False
    place = paths.locate(change.path)
    handler = _HANDLERS.get(place.kind)
    return handler is not None and handler(book, change, place)
