"""Consumer groups that rebalance: who joined and left, and whose partitions moved."""

from __future__ import annotations

from typing import Any

import msgspec

from zkdash.cluster.changes import Change
from zkdash.cluster.incidents.book import SOON_MS, Book
from zkdash.cluster.incidents.incident import MOST_CLAIMS, MOST_NAMES, Effects, Incident, Kind, Owners
from zkdash.kafka.znode_kinds import Place

_replace = msgspec.structs.replace


def member(book: Book, change: Change, place: Place) -> bool:
    """/consumers/G/ids/<id>: a consumer joined, left, or subscribes to something else."""
    incident = _cause(book, place.name, change.when)
    effects = incident.effects
    if change.before is None:
        effects = _replace(effects, joined=effects.joined + 1)
    elif change.after is None:
        effects = _replace(effects, left=effects.left + 1)
    if len(effects.members) < MOST_NAMES:
        effects = _replace(effects, members=(*effects.members, place.key))
    fields: dict[str, Any] = {"reason": _reason(effects, incident)} if incident.kind is Kind.REBALANCE else {}
    book.add(incident, change, _with_group(effects, place.name, change.when, 0, 0), **fields)
    return True


def owners(book: Book, change: Change) -> bool:
    """The owners of a group's partitions: one sentence a reading."""
    name = change.path.split("/")[2]
    incident = _cause(book, name, change.when)
    lost = sum(claim.after is None for claim in change.claims)
    claimed = sum(claim.after is not None for claim in change.claims)
    first, now = incident.first, incident.now
    for claim in change.claims:
        part = f"{name} {claim.part}"
        if part not in first:
            if len(first) >= MOST_CLAIMS:
                continue
            first = first.set(part, claim.before)
        now = now.set(part, claim.after)
    book.add(
        incident,
        change,
        _with_group(incident.effects, name, change.when, lost, claimed),
        first=first,
        now=now,
    )
    return True


def _cause(book: Book, name: str, when: int) -> Incident:
    """A broker that went or came back just now, which consumers watch; else the group's own rebalance."""
    own = book.find(Kind.REBALANCE, name)
    if own is not None:
        return own
    for incident in book.all():
        if incident.kind in {Kind.BROKER, Kind.ROLLING} and _is_near(incident, name, when):
            return incident
    return book.begin(Kind.REBALANCE, name, when)


def _is_near(incident: Incident, name: str, when: int) -> bool:
    if incident.ended is not None and when - incident.ended > SOON_MS:
        return False
    moments = [at for outage in incident.outages for at in (outage.gone, outage.back) if at is not None]
    if name in incident.effects.owners:
        moments.append(incident.effects.owners[name].last)
    return any(abs(when - at) <= SOON_MS for at in moments)


def _with_group(effects: Effects, name: str, when: int, lost: int, claimed: int) -> Effects:
    owners_before = effects.owners.get(name, Owners())
    total = Owners(owners_before.lost + lost, owners_before.claimed + claimed, max(owners_before.last, when))
    return _replace(effects, owners={**effects.owners, name: total})


def _reason(effects: Effects, incident: Incident) -> str:
    if effects.joined and effects.left:
        return "members changed"
    if effects.joined:
        return "member joined"
    return "member left" if effects.left else incident.reason or "subscription changed"
