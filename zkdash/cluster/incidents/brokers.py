"""Registrations of brokers and of the controller: where most incidents begin and end."""

from __future__ import annotations

import msgspec

from zkdash.cluster.changes import Change
from zkdash.cluster.incidents.book import ROLL_MS, SOON_MS, Book
from zkdash.cluster.incidents.incident import Incident, Kind, Outage
from zkdash.kafka.znode_kinds import Place

_replace = msgspec.structs.replace


def registration(book: Book, change: Change, place: Place) -> bool:
    """/brokers/ids/N: the session ended, or a broker is (again) there."""
    broker = int(place.name)
    if change.after is None:
        _gone(book, change, broker)
        return True
    incident = away(book, broker)
    if incident is None and change.before is not None and change.session is not None:
        _gone_and_back(book, change, broker)
        return True
    if incident is None:
        return False  # a new broker, or one whose address changed
    incident = book.add(incident, change, outages=_returned(incident.outages, broker, change.when))
    settle(book, _rolling(book, incident, broker), change.when)
    return True


def controller(book: Book, change: Change, _place: Place) -> bool:
    """/controller: gone with its broker, or moved."""
    was, now = _id(change.before), _id(change.after)
    incident = _ended_lately(book, was, change.when) or book.find(Kind.CONTROLLER)
    if incident is None:
        incident = book.get(book.epoch_of)
        if incident is None or was is not None or change.when - incident.last > SOON_MS:
            incident = book.begin(Kind.CONTROLLER, "" if was is None else str(was), change.when)
    effects = incident.effects if now is None else _replace(incident.effects, controller=now)
    incident = book.add(incident, change, effects)
    book.epoch_of = incident.id
    if incident.kind is Kind.CONTROLLER and now is not None:
        book.end(incident, change.when)
    return True


def epoch(book: Book, change: Change, _place: Place) -> bool:
    """/controller_epoch follows the controller, or comes just before it."""
    incident = book.get(book.epoch_of)
    if incident is None or abs(change.when - incident.last) > SOON_MS:
        return False
    book.add(incident, change)
    return True


def away(book: Book, broker: int) -> Incident | None:
    """The open incident of a broker that is not registered."""
    return next(
        (
            incident
            for incident in book.all()
            if incident.ended is None and any(outage.broker == broker for outage in incident.away)
        ),
        None,
    )


def of(book: Book, broker: int, when: int, within_ms: int = SOON_MS) -> Incident | None:
    """The incident of a broker whose session ended: open, or over so short a time ago that this belongs to
    it. Of several that whose session ended last."""
    near = [
        incident
        for incident in book.all()
        if incident.outages
        and broker in incident.brokers
        and (incident.ended is None or abs(when - incident.ended) <= within_ms)
    ]
    return max(near, key=lambda incident: _last(incident, broker).gone, default=None)


def settle(book: Book, incident: Incident, when: int) -> None:
    """End an incident of brokers if all of them are back, in sync, and nothing is offline."""
    if incident.ended is None and not incident.away and not incident.is_out:
        book.end(incident, max([when, *(outage.back or 0 for outage in incident.outages)]))


def _gone(book: Book, change: Change, broker: int) -> Incident:
    outage = Outage(broker, change.when, None, change.session, change.since)
    away_incident = of(book, broker, change.when)
    if (
        away_incident is not None and away_incident.ended is None
    ):  # it was not whole yet: the same story goes on
        return book.add(away_incident, change, outages=(*away_incident.outages, outage))
    incident = book.add(book.begin(Kind.BROKER, str(broker), change.when, outages=(outage,)), change)
    for other in tuple(book.all()):
        if _is_forerunner(other, incident):
            incident = book.merge(
                incident,
                other,
                kind=Kind.BROKER,
                subject=str(broker),
                outages=(outage,),
                began=change.when,
                prelude=min(incident.heard, other.heard),
            )
    return incident


def _gone_and_back(book: Book, change: Change, broker: int) -> None:
    """Both within one reading."""
    incident = _gone(book, change, broker)
    incident = book.change(incident, outages=_returned(incident.outages, broker, change.when))
    incident = _rolling(book, incident, broker)
    settle(book, incident, change.when)


def _is_forerunner(other: Incident, incident: Incident) -> bool:
    """Whether what was told before of the same broker is what this incident began with."""
    near = other.id != incident.id and incident.began - other.last <= SOON_MS
    return (
        near and other.subject == incident.subject and other.kind in {Kind.ISR, Kind.LEADERS, Kind.CONTROLLER}
    )


def _rolling(book: Book, incident: Incident, broker: int) -> Incident:
    """Make it one with the restart just before it, of another broker, where there is one."""
    mine = _last(incident, broker)
    others = [other for other in book.all() if other.id != incident.id and other.outages]
    if any(_overlap(outage, mine) for other in others for outage in other.outages):
        return incident  # that is more than one broker at a time
    for other in others:
        back = other.outages[-1].back
        if broker not in other.brokers and back is not None and 0 <= mine.gone - back <= ROLL_MS:
            return book.merge(incident, other, kind=Kind.ROLLING, subject="")
    return incident


def _last(incident: Incident, broker: int) -> Outage:
    return max(
        (outage for outage in incident.outages if outage.broker == broker), key=lambda outage: outage.gone
    )


def _overlap(outage: Outage, mine: Outage) -> bool:
    """Whether a broker was away when another one went, or went before that one came back."""
    until = mine.back or mine.gone
    return outage.gone <= until and (outage.back is None or outage.back > mine.gone)


def _returned(outages: tuple[Outage, ...], broker: int, when: int) -> tuple[Outage, ...]:
    return tuple(
        _replace(outage, back=max(when, outage.gone))
        if outage.broker == broker and outage.back is None
        else outage
        for outage in outages
    )


def _ended_lately(book: Book, broker: int | None, when: int) -> Incident | None:
    """The incident of the broker that was controller."""
    incident = None if broker is None else away(book, broker)
    if incident is not None:
        return incident
    last = book.get(book.epoch_of)
    if last is None or broker is not None or last.effects.controller is not None:
        return None
    return last if when - last.began <= 3 * SOON_MS or last.away else None


def _id(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
