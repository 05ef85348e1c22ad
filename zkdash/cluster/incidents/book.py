"""The incidents of one folding while it goes on: found by what they are about, changed, closed and merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from zkdash.cluster.changes import Change
from zkdash.cluster.incidents.incident import (
    MOST_ENDED,
    MOST_OPEN,
    MOST_ROWS,
    MOST_SINGLES,
    Effects,
    Incident,
    Incidents,
    Kind,
    Outage,
    Owners,
)
from zkdash.time_units import HOUR_MS, MINUTE_MS

# So long after the last change a story without an end of its own is over (ms): rebalance.backoff.ms is 2 s.
QUIET_MS: Final = 10_000
# What follows within so long is held to be an effect.
SOON_MS: Final = 10_000
# A story whose broker is back, and of which nothing was heard for so long, has ended with its last change.
GIVE_UP_MS: Final = HOUR_MS
# A broker that goes so soon after the one before came back belongs to the same rolling restart.
ROLL_MS: Final = 10 * MINUTE_MS

_QUIET_KINDS = {Kind.LEADERS, Kind.REBALANCE, Kind.CONFIG}


class Book:
    """A working copy of `Incidents`. Every method that takes an incident wants the newest of its id."""

    def __init__(self, incidents: Incidents) -> None:
        self._open = {incident.id: incident for incident in incidents.open}
        self._ended = list(incidents.ended)
        self._singles = list(incidents.singles)
        self._next = incidents.next
        self.clock = incidents.clock
        self.epoch_of = incidents.epoch_of

    def close(self) -> Incidents:
        return Incidents(
            tuple(self._open.values()),
            tuple(self._ended),
            tuple(self._singles),
            self.clock,
            self._next,
            self.epoch_of,
        )

    def tick(self, when: int) -> None:
        """Time has come to `when`: end what was quiet for long enough."""
        self.clock = when
        for incident in [overdue for overdue in self._open.values() if self.clock > due(overdue)]:
            self.end(incident, incident.last)

    def all(self) -> Iterator[Incident]:
        """What is open, and then what ended lately, the newest first of each."""
        yield from reversed(self._open.values())
        for incident in reversed(self._ended):
            if incident.ended is not None and self.clock - incident.ended > ROLL_MS:
                return
            yield incident

    def find(self, kind: Kind, subject: str = "") -> Incident | None:
        """The open one of a kind about a subject."""
        return next(
            (
                incident
                for incident in self._open.values()
                if incident.kind is kind and incident.subject == subject
            ),
            None,
        )

    def get(self, number: int) -> Incident | None:
        return next((incident for incident in self.all() if incident.id == number), None)

    def begin(self, kind: Kind, subject: str, when: int, **fields: Any) -> Incident:
        """A new one. It has no change yet."""
        if len(self._open) >= MOST_OPEN:
            oldest = next(iter(self._open.values()))
            self.end(oldest, oldest.last)
        incident = Incident(self._next, kind, subject, when, when, **fields)
        self._next += 1
        self._open[incident.id] = incident
        return incident

    def add(
        self, incident: Incident, change: Change, effects: Effects | None = None, **fields: Any
    ) -> Incident:
        """The change belongs to it. Nothing else may be given the same change."""
        return self.change(
            incident,
            last=max(incident.last, change.when),
            zxid=change.zxid if incident.zxid is None else incident.zxid,
            changes=incident.changes + 1,
            rows=incident.rows if len(incident.rows) >= MOST_ROWS else (*incident.rows, change),
            effects=incident.effects if effects is None else effects,
            **fields,
        )

    def single(self, change: Change) -> None:
        """The change belongs to no incident."""
        self._singles.append(change)
        del self._singles[:-MOST_SINGLES]

    def end(self, incident: Incident, when: int) -> None:
        self._open.pop(incident.id, None)
        self._ended = [other for other in self._ended if other.id != incident.id]
        self._ended.append(msgspec.structs.replace(incident, ended=max(when, incident.began)))
        del self._ended[:-MOST_ENDED]

    def reopen(self, incident: Incident) -> Incident:
        return self.change(incident, ended=None)

    def merge(self, incident: Incident, other: Incident, **fields: Any) -> Incident:
        """Make both one: the older keeps its id."""
        kept, gone = (incident, other) if incident.id < other.id else (other, incident)
        self._open.pop(gone.id, None)
        self._ended = [each for each in self._ended if each.id != gone.id]
        if self.epoch_of == gone.id:
            self.epoch_of = kept.id
        return self.change(kept, **{**_both(kept, gone), **fields})

    def change(self, incident: Incident, **fields: Any) -> Incident:
        """It with other values; what ended stays so unless it is told otherwise."""
        changed = msgspec.structs.replace(incident, **fields)
        if changed.ended is None:
            self._ended = [other for other in self._ended if other.id != incident.id]
            self._open[incident.id] = changed
        else:
            self._ended = [changed if other.id == incident.id else other for other in self._ended]
        return changed


def due(incident: Incident) -> float:
    """When it is over if nothing more is heard of it (epoch ms)."""
    if incident.kind in _QUIET_KINDS:
        return incident.last + QUIET_MS
    if incident.kind in {Kind.BROKER, Kind.ROLLING} and incident.away:
        return float("inf")
    return incident.last + GIVE_UP_MS


def _both(incident: Incident, other: Incident) -> dict[str, Any]:
    out = incident.out
    for key, count in other.out.items():
        out = out.set(key, out.get(key, 0) + count)
    offline = incident.offline
    for topic, count in other.offline.items():
        offline = offline.set(topic, offline.get(topic, 0) + count)
    outages = tuple(sorted((*incident.outages, *other.outages), key=_gone))
    return {
        "began": min(incident.began, other.began),
        "last": max(incident.last, other.last),
        "prelude": min((at for at in (incident.prelude, other.prelude) if at is not None), default=None),
        "ended": None,
        "outages": outages,
        "effects": _sum(incident.effects, other.effects),
        "zxid": min((zxid for zxid in (incident.zxid, other.zxid) if zxid is not None), default=None),
        "changes": incident.changes + other.changes,
        "rows": tuple(sorted((*incident.rows, *other.rows), key=_when))[:MOST_ROWS],
        "reason": incident.reason or other.reason,
        "out": out,
        "first": other.first.update(incident.first),
        "now": incident.now.update(other.now),
        "missing": incident.missing + other.missing,
        "offline": offline,
        "deleted": incident.deleted + other.deleted,
    }


def _gone(outage: Outage) -> int:
    return outage.gone


def _when(change: Change) -> int:
    return change.when


def _sum(left: Effects, other: Effects) -> Effects:
    return Effects(
        leaders_moved=left.leaders_moved + other.leaders_moved,
        moved_to=added(left.moved_to, other.moved_to.items()),
        leaders_back=left.leaders_back + other.leaders_back,
        offline=left.offline + other.offline,
        led_again=left.led_again + other.led_again,
        left_isr=left.left_isr + other.left_isr,
        back_in_isr=left.back_in_isr + other.back_in_isr,
        most_out=max(left.most_out, other.most_out),
        owners={
            name: _owners(left.owners.get(name), other.owners.get(name))
            for name in (*left.owners, *other.owners)
        },
        joined=left.joined + other.joined,
        left=left.left + other.left,
        members=(*left.members, *other.members),
        partitions=other.partitions if left.partitions is None else left.partitions,
        controller=left.controller if other.controller is None else other.controller,
    )


def _owners(left: Owners | None, other: Owners | None) -> Owners:
    left, other = left or Owners(), other or Owners()
    return Owners(left.lost + other.lost, left.claimed + other.claimed, max(left.last, other.last))


def added(counts: Any, more: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Counts by broker with more of them."""
    total = dict(counts)
    for broker, count in more:
        total[broker] = total.get(broker, 0) + count
    return total
