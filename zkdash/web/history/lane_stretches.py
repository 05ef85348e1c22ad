"""From what is known of a broker, the controller or a group to the stretches of its lane.

Nothing is claimed that nobody saw: a broker was up since its registration was made (the ctime of an
ephemeral), or as the tables say. What is left of the window is "unknown".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Final

from zkdash.cluster.changes import Change
from zkdash.cluster.incidents import Incident, Kind
from zkdash.history.queries.lanes import Past, Term
from zkdash.history.queries.window import Span
from zkdash.kafka import paths
from zkdash.kafka.values import Controller
from zkdash.live.recent_numbers import EVERY_S
from zkdash.live.snapshot import Snapshot
from zkdash.web.drawing.lanes import Stretch

UNKNOWN: Final = "unknown"


def filled(stretches: Iterable[Stretch], from_ms: int, to_ms: int) -> tuple[Stretch, ...]:
    """All of a window: stretches in their order, alike ones that touch as one, "unknown" between them."""
    pieces: list[Stretch] = []
    at = from_ms
    for stretch in sorted(stretches, key=lambda stretch: (stretch.from_ms, stretch.to_ms)):
        begin, end = max(stretch.from_ms, at), min(stretch.to_ms, to_ms)
        if end < begin or begin > to_ms or (end == begin and stretch.to_ms > stretch.from_ms):
            continue
        if begin > at:
            pieces.append(Stretch(at, begin, UNKNOWN))
        last = pieces[-1] if pieces else None
        if last is not None and (last.kind, last.name) == (stretch.kind, stretch.name):
            pieces[-1] = Stretch(last.from_ms, end, last.kind, last.name)
        else:
            pieces.append(Stretch(begin, end, stretch.kind, stretch.name))
        at = end
    if at < to_ms:
        pieces.append(Stretch(at, to_ms, UNKNOWN))
    return tuple(pieces)


def gaps(known_spans: Iterable[Span], from_ms: int, to_ms: int) -> tuple[Stretch, ...]:
    """What of a window lies in no span that something is known of, as "unknown"."""
    pieces = filled((Stretch(span.from_ms, span.to_ms, "told") for span in known_spans), from_ms, to_ms)
    return tuple(stretch for stretch in pieces if stretch.kind == UNKNOWN)


def watched(snapshot: Snapshot, incidents: Iterable[Incident]) -> Iterator[Span]:
    """The time of which this process knows what happened, as far as it can prove it; none before it began."""
    begins = [incident.heard for incident in incidents]
    begins += [(numbers.at - EVERY_S) * 1000 for numbers in snapshot.recent[:1]]
    if begins:
        yield Span(min(begins), max(proved_ms(snapshot), min(begins)))


def broker(number: int, snapshot: Snapshot, incidents: Iterable[Incident], past: Past) -> Iterator[Stretch]:
    """When a broker was registered, and when it is known that it was not."""
    now = proved_ms(snapshot)
    for outage in (outage for incident in incidents for outage in incident.outages):
        if outage.broker == number:
            if outage.since is not None:
                yield Stretch(outage.since, outage.gone, "up")
            yield Stretch(outage.gone, now if outage.back is None else outage.back, "down")
    seen = snapshot.state.brokers.get(number)
    if seen is not None and seen.znode is not None:
        yield Stretch(seen.znode.ctime, now, "up")
    terms = [term for term in past.registered if term.broker == number]
    yield from _recorded((Stretch(term.from_ms, term.to_ms, "up") for term in terms), past)


def controller(snapshot: Snapshot, changes: Iterable[Change], past: Past) -> Iterator[Stretch]:
    """Who was the controller, and when it is known that nobody was."""
    now = proved_ms(snapshot)
    seen = snapshot.state.controller
    if seen is not None and seen.znode is not None and isinstance(seen.value, Controller):
        yield Stretch(seen.znode.ctime, now, "up", str(seen.value.broker_id))
    elections = sorted(
        (change for change in changes if change.path == paths.CONTROLLER), key=lambda change: change.when
    )
    for change, after in zip_longest(elections, elections[1:]):
        if change.before is not None and change.since is not None:
            yield Stretch(change.since, change.when, "up", change.before)
        if change.after is None:
            yield Stretch(change.when, now if after is None else after.when, "down")
    yield from _recorded((_term(term) for term in past.controllers), past)


def rebalances(incidents: Iterable[Incident], past: Past, until_ms: int) -> dict[str, list[Stretch]]:
    """By group, when it rebalanced."""
    by_group: dict[str, list[Stretch]] = {}
    for incident in incidents:
        if incident.kind is Kind.REBALANCE:
            until = until_ms if incident.ended is None else incident.ended
            by_group.setdefault(incident.subject, []).append(Stretch(incident.began, until, "moved"))
    for rebalance in past.rebalances:
        by_group.setdefault(rebalance.group, []).append(
            Stretch(rebalance.from_ms, rebalance.to_ms, "moved", _cause(rebalance.moved, rebalance.cause))
        )
    return by_group


def proved_ms(snapshot: Snapshot) -> int:
    """Up to when ZooKeeper proved what is known (epoch ms), 0 before the first load."""
    return int((snapshot.as_of or 0) * 1000)


def _recorded(terms: Iterable[Stretch], past: Past) -> Iterator[Stretch]:
    """Terms of the tables, and "down" between two of them where the tables have no gap."""
    before: Stretch | None = None
    for term in terms:
        if before is not None and _is_known(before.to_ms, term.from_ms, past):
            yield Stretch(before.to_ms, term.from_ms, "down")
        yield term
        before = term


def _is_known(from_ms: int, to_ms: int, past: Past) -> bool:
    return any(span.from_ms <= from_ms < to_ms <= span.to_ms for span in past.spans)


def _term(term: Term) -> Stretch:
    return Stretch(term.from_ms, term.to_ms, "up", str(term.broker))


def _cause(moved: int, cause: str) -> str:
    return f"{moved} moved, {cause}"
