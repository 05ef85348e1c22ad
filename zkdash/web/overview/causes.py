"""What is wrong now: one headline a cause, what followed from it, and the checks that fail because of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from zkdash.cluster.incidents import words
from zkdash.cluster.incidents.causes import Cause
from zkdash.cluster.incidents.words import Effect
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.checks import findings_panel
from zkdash.web.checks.findings_panel import Sentence
from zkdash.web.frame import cells, links, shapes, times
from zkdash.web.frame.cells import Record

# The checks whose remedy helps most, where they fail because of a cause: partitions without a leader, those
# that refuse producers, and replicas on brokers that are gone.
_REMEDIES: Final = ("D1", "D2", "D9")
_REPLICAS_GONE: Final = "D11"
_MOST_CHIPS: Final = 8
_MOST_NAMED: Final = 3


class Session(msgspec.Struct, frozen=True):
    """A session that ended, or that one broker lost: `ended` is in epoch ms."""

    text: str
    href: str
    ended: int


class Headline(msgspec.Struct, frozen=True):
    """One cause in words. `where` is what is known of the brokers; `listing` leads to their partitions."""

    id: str
    title: str
    where: tuple[str, ...]
    sessions: tuple[Session, ...]
    unknown_since: bool
    chips: tuple[Effect, ...]
    listing: str
    partitions: int
    help: str
    follow: tuple[Sentence, ...]


def block(snapshot: Snapshot, key: PageKey) -> Block:
    """The live part; nothing where nothing is wrong, or where no cause is known."""
    headlines = tuple(_headline(snapshot, cause, key) for cause in snapshot.causes)
    return Block(id="causes", template="overview/causes.html", values=headlines)


def folded(snapshot: Snapshot) -> frozenset[str]:
    """The checks whose findings stand under a headline."""
    return frozenset(check for cause in snapshot.causes for check in cause.checks)


RECORD: Final = shapes.fields(
    title=shapes.TEXT,
    brokers=shapes.NUMBERS,
    since=shapes.TEXT_OR_NULL,
    incident=shapes.INTEGER_OR_NULL,
    replicas=shapes.COUNT,
    under_replicated=shapes.COUNT,
    effects=shapes.TEXTS,
    checks=shapes.TEXTS,
)


def records(snapshot: Snapshot) -> list[Record]:
    """The headlines for JSON."""
    return [_record(snapshot.state, cause) for cause in snapshot.causes]


def _record(state: ClusterState, cause: Cause) -> Record:
    incident = cause.incident
    why = "the broker was gone before zkdash began to watch"
    since: Record = {"since": None, "since_reason": why, "incident": None, "incident_reason": why}
    if incident is not None:
        since = {"since": times.utc_text(incident.away[-1].gone), "incident": incident.id}
    return {
        "title": _title(cause),
        "brokers": list(cause.brokers),
        **since,
        "replicas": cause.carried.replicas,
        "under_replicated": cause.carried.under_replicated,
        "effects": [chip.text for chip in _chips(state, cause)],
        "checks": list(cause.checks),
    }


def _headline(snapshot: Snapshot, cause: Cause, key: PageKey) -> Headline:
    incident, cluster = cause.incident, snapshot.cluster
    outages = () if incident is None else incident.away
    return Headline(
        id=f"cause-{'-'.join(map(str, cause.brokers))}",
        title=_title(cause),
        where=tuple(_where(snapshot, cause)),
        sessions=tuple(
            Session(links.session_text(it.session), links.session(cluster, it.session), it.gone)
            if it.session is not None
            else Session("", "", it.gone)
            for it in outages
        ),
        unknown_since=incident is None,
        chips=tuple(_chips(snapshot.state, cause))[:_MOST_CHIPS],
        listing=links.broker(cluster, cause.brokers[0]),
        partitions=cause.carried.replicas,
        help=links.check(cluster, _remedy(cause)),
        follow=tuple(
            findings_panel.of(snapshot, finding, key)
            for finding in snapshot.findings
            if finding.check in cause.checks
        ),
    )


def _remedy(cause: Cause) -> str:
    """The check that says what to do about the worst that follows."""
    return next((check for check in _REMEDIES if check in cause.checks), _REPLICAS_GONE)


def _title(cause: Cause) -> str:
    if cause.incident is not None:
        return words.title(cause.incident)
    many = len(cause.brokers) > 1
    shown = ", ".join(map(str, cause.brokers[:5])) + (" …" if len(cause.brokers) > 5 else "")
    return f"{'Brokers' if many else 'Broker'} {shown} {'are' if many else 'is'} not registered"


def _where(snapshot: Snapshot, cause: Cause) -> Iterator[str]:
    """Host and port, and rack, as the brokers registered last."""
    for number in cause.brokers[:_MOST_NAMED]:
        departure = snapshot.departed.get(number)
        broker = None if departure is None else departure.broker
        if broker is not None:
            yield broker.address
            if broker.rack:
                yield broker.rack


def _chips(state: ClusterState, cause: Cause) -> Iterator[Effect]:
    """What follows, by the state and by what changed: right after a death the state has not followed yet."""
    carried, counts = cause.carried, state.counts
    if cause.incident is not None:
        offline = cause.incident.effects.offline - cause.incident.effects.led_again
    else:
        offline = counts.offline if "D1" in cause.checks else 0
    if offline > 0:
        yield Effect(Severity.CRITICAL, f"{_many(offline, 'partition')} offline")
    if carried.under_replicated:
        yield Effect(Severity.WARNING, f"{cells.grouped(carried.under_replicated)} under-replicated")
    waiting = carried.replicas - carried.under_replicated
    if waiting > 0:
        yield Effect(Severity.WARNING, f"{_many(waiting, 'replica')} about to leave the ISR")
    if cause.incident is not None:
        yield from words.effects_elsewhere(cause.incident)


def _many(count: int, noun: str) -> str:
    return f"{cells.grouped(count)} {noun}{'' if count == 1 else 's'}"
