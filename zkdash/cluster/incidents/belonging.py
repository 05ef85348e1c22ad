"""Which incident a change belongs to: asked of those that were folded, wherever the change is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from zkdash.cluster.changes import Change
from zkdash.cluster.incidents.incident import MOST_SINGLES, Incident, Incidents


class Told(NamedTuple):
    """What tells a change from others, whoever kept it; `zxid` is None where a watcher could not know it."""

    zxid: int | None
    path: str
    what: str
    before: str | None
    after: str | None


def told(change: Change) -> Told:
    return Told(change.zxid, change.path, change.what, change.before, change.after)


class Belonging:
    """Of some incidents, which of them a change belongs to.

    An incident keeps its first changes: another one belongs to it where nothing else can have taken it.
    """

    def __init__(self, *folded: Incidents) -> None:
        self._incidents = tuple(incident for incidents in folded for incident in incidents.newest)
        self._by_change = {told(change): incident for incident in self._incidents for change in incident.rows}
        self._singles = {told(change) for incidents in folded for change in incidents.singles}
        self._cut = tuple(each for each in self._incidents if each.changes > len(each.rows))
        # Before these nobody remembers what stood alone.
        self._since = max(
            (incidents.singles[0].when for incidents in folded if len(incidents.singles) >= MOST_SINGLES),
            default=0,
        )

    def of(self, change: Change) -> Incident | None:
        """The incident; None where it stands alone, or where several may have taken it."""
        key = told(change)
        if key in self._singles:
            return None
        if incident := self._by_change.get(key) or self._by_change.get(key._replace(zxid=None)):
            return incident
        if change.when < self._since:
            return None
        during = [each for each in self._cut if each.rows[-1].when <= change.when <= _until(each)]
        return during[0] if len(during) == 1 else None


def _until(incident: Incident) -> int:
    return incident.last if incident.ended is None else max(incident.ended, incident.last)


def without(changes: Iterable[Change], others: Iterable[Change]) -> list[Change]:
    """The changes that are not among others, which may not know the transaction of what went away."""
    counts = Counter(told(change) for change in others)
    left = []
    for change in changes:
        key = told(change)
        match = next((each for each in (key, key._replace(zxid=None)) if counts[each]), None)
        if match is None:
            left.append(change)
        else:
            counts[match] -= 1
    return left
