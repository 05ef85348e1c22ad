"""What somebody asked for: reassignments, elections, deletions, configurations."""

from __future__ import annotations

import msgspec

from zkdash.cluster.changes import Change
from zkdash.cluster.changes.topics import moving
from zkdash.cluster.incidents import brokers
from zkdash.cluster.incidents.book import SOON_MS, Book
from zkdash.cluster.incidents.incident import Incident, Kind
from zkdash.kafka.znode_kinds import Place

_replace = msgspec.structs.replace


def reassignment(book: Book, change: Change, _place: Place) -> bool:
    """/admin/reassign_partitions, from the request to its removal."""
    return _request(book, change, Kind.REASSIGNMENT)


def election(book: Book, change: Change, _place: Place) -> bool:
    """/admin/preferred_replica_election, from the request to its removal."""
    return _request(book, change, Kind.ELECTION)


def deletion(book: Book, change: Change, place: Place) -> bool:
    """/admin/delete_topics/T: the mark, and its removal when all is deleted."""
    incident = book.find(Kind.DELETION, place.name)
    if "marked" in change.what:
        book.add(incident or book.begin(Kind.DELETION, place.name, change.when), change)
        return True
    incident = incident or _lately(book, Kind.DELETION, place.name, change.when)
    if incident is None:
        return False
    book.end(book.add(incident, change), change.when)
    return True


def topic(book: Book, change: Change, place: Place) -> bool:
    """/brokers/topics/T: deleted, or its replicas move (KIP-455), or are others."""
    if change.after is None and change.before is not None and change.what.endswith(" was deleted"):
        _deleted(book, change, place.name)
        return True
    step = moving(change.what)
    if step is not None:
        _moving(book, change, place.name, *step)
        return True
    if not change.what.endswith(" has other replicas"):
        return False
    incident = book.find(Kind.REASSIGNMENT, place.name) or book.find(Kind.REASSIGNMENT)
    incident = incident or _lately(book, Kind.REASSIGNMENT, "", change.when)
    if incident is not None:
        book.add(incident, change)
    return incident is not None


def config(book: Book, change: Change, place: Place) -> bool:
    """/config/topics/T of a topic that stays."""
    incident = book.find(Kind.CONFIG, place.name) or book.begin(Kind.CONFIG, place.name, change.when)
    book.add(incident, change)
    return True


def _request(book: Book, change: Change, kind: Kind) -> bool:
    incident = book.find(kind)
    if incident is None:
        if change.after is None:
            return False  # it began before all that is known
        incident = book.begin(kind, "", change.when)
    partitions = incident.effects.partitions or _partitions(change.before) or _partitions(change.after)
    incident = book.add(incident, change, _replace(incident.effects, partitions=partitions))
    if change.after is None:
        book.end(incident, change.when)
    return True


def _moving(book: Book, change: Change, name: str, count: int, begins: bool) -> None:
    requested = book.find(Kind.REASSIGNMENT)
    if requested is not None:
        book.add(requested, change)
        return
    incident = book.find(Kind.REASSIGNMENT, name)
    if incident is None:
        lately = None if begins else _lately(book, Kind.REASSIGNMENT, "", change.when)
        if lately is not None:
            book.add(lately, change)
            return
        incident = book.begin(Kind.REASSIGNMENT, name, change.when)
    left = incident.moving + (count if begins else -count)
    moved_before = incident.effects.partitions or 0
    effects = _replace(
        incident.effects, partitions=moved_before + count if begins else max(moved_before, count)
    )
    incident = book.add(incident, change, effects, moving=left)
    if left <= 0:
        book.end(incident, change.when)


def _deleted(book: Book, change: Change, name: str) -> None:
    """The topic's replicas are out of no ISR any more, and none of its partitions lacks a leader."""
    incident = book.find(Kind.DELETION, name) or _lately(book, Kind.DELETION, name, change.when)
    is_marked = incident is not None
    incident = incident or book.begin(Kind.DELETION, name, change.when)
    incident = book.add(incident, change, _replace(incident.effects, partitions=_partitions(change.before)))
    if not is_marked:
        book.end(incident, change.when)
    for other in tuple(book.all()):
        if other.ended is None and (name in other.offline or any(of == name for _, of in other.out)):
            brokers.settle(book, _without(book, other, name), change.when)


def _without(book: Book, incident: Incident, topic: str) -> Incident:
    out, gone = incident.out, 0
    for key, count in incident.out.items():
        if key[1] == topic:
            out, gone = out.delete(key), gone + max(count, 0)
    offline = incident.offline
    leaderless = offline.get(topic, 0)
    return book.change(
        incident,
        out=out,
        missing=incident.missing - gone,
        offline=offline.delete(topic) if topic in offline else offline,
        deleted=incident.deleted + max(leaderless, 0),
    )


def _lately(book: Book, kind: Kind, subject: str, when: int) -> Incident | None:
    """One that ended so short a time ago that this belongs to it."""
    for incident in book.all():
        if incident.kind is kind and incident.subject == subject and incident.ended is not None:
            return incident if when - incident.ended <= SOON_MS else None
    return None


def _partitions(text: str | None) -> int | None:
    """Of "12 partitions"."""
    number = (text or "").partition(" ")[0]
    return int(number) if number.isdecimal() else None
