"""Incidents as pages show them: a headline, what followed, how long, and the changes where one unfolds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple
from urllib.parse import urlencode

import msgspec

from zkdash.actions.reading.entries import Entry
from zkdash.cluster.changes import Change
from zkdash.cluster.incidents import Incident, words
from zkdash.cluster.incidents.words import Effect
from zkdash.cluster.model.severity import Severity
from zkdash.live.parts import Block
from zkdash.live.queue import Queue
from zkdash.web.frame import links, shapes, times
from zkdash.web.frame.cells import Record

# So many changes of an incident unfold in its place; the Timeline lists all that are kept.
SHOWN: Final = 20


class ByAction(msgspec.Struct, frozen=True):
    """An action: who asked for it, its number, its page."""

    who: str
    number: int
    href: str


# By the transactions that actions of ours wrote.
Actions = Mapping[int, Entry]
NONE: Final[Actions] = {}


def actions(queue: Queue) -> Actions:
    """The actions that are at hand, by what they wrote."""
    return {zxid: entry for entry in queue.entries for zxid in entry.zxids}


class Story(msgspec.Struct, frozen=True):
    """One incident, or a change that belongs to none: then it has neither `took` nor anything to unfold.

    `at` is in epoch ms. `by` is the action of ours that began it. `took` says how long it lasted, "still
    open" while it does. Of its `changes` `rows` are the first; `more` leads to all of them, "" where these
    are all. `ways` lead to what was around it, none where nobody knows when that was. With `of` it is told of
    that thing alone, which `rows` are about. `written` says who wrote it, as far as that is recorded.
    """

    id: str
    at: int
    severity: Severity
    title: str
    effects: tuple[Effect, ...] = ()
    took: str = ""
    is_open: bool = False
    changes: int = 0
    rows: tuple[Change, ...] = ()
    more: str = ""
    path: str = ""
    by: ByAction | None = None
    ways: Ways | None = None
    of: str = ""
    written: tuple[Written, ...] = ()


class Written(msgspec.Struct, frozen=True):
    """Who wrote: in words, and what its session owns now, "" where there is none."""

    words: str
    href: str = ""


class Ways(msgspec.Struct, frozen=True):
    """To the cluster before, during and after something, and to what differs from before it to its end.

    What took no time has no `during`, what goes on no `after`.
    """

    before: str
    differences: str
    during: str = ""
    after: str = ""


class Page(NamedTuple):
    """Which page the ways lead to, with what is asked of it, and the differences of what: by default all."""

    path: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    of: tuple[tuple[str, str], ...] = ()


OVERVIEW: Final = Page()


def block(part: str, stories: Iterable[Story], empty: str) -> Block:
    """The live part; `empty` stands where nothing happened."""
    return Block(id=part, template="frame/incidents.html", values=(tuple(stories), empty))


def story(cluster: str, incident: Incident, ours: Actions = NONE, shown: int = SHOWN) -> Story:
    """An incident with its first changes."""
    if (
        incident.changes == 1
        and incident.ended is not None
        and len(incident.rows) == 1
        and not incident.outages
    ):
        alone = single(cluster, incident.rows[0], f"incident-{incident.id}", ours)
        return msgspec.structs.replace(alone, title=words.title(incident), effects=words.effects(incident))
    rows = incident.rows[:shown]
    return Story(
        id=f"incident-{incident.id}",
        at=incident.at,
        severity=words.severity(incident),
        title=words.title(incident),
        effects=words.effects(incident),
        took=took(incident),
        is_open=incident.ended is None,
        changes=incident.changes,
        rows=rows,
        more=span(cluster, incident) if incident.changes > len(rows) else "",
        by=by_action(cluster, rows[0], ours) if rows else None,
        ways=ways(cluster, rows[0].zxid if rows else None, incident.at, until_ms=incident.ended),
    )


def ways(
    cluster: str, zxid: int | None, at_ms: int, *, until_ms: int | None, page: Page = OVERVIEW
) -> Ways | None:
    """The ways around what began with a transaction (None where nobody knows it) or at a time, and ended at a
    later one, or goes on; None where the calendar does not hold that time."""
    first = links.at_time(at_ms) if zxid is None else links.at_zxid(zxid)
    before = links.at_time(at_ms - 1) if zxid is None else links.at_zxid(zxid - 1)
    if not before or not first:
        return None
    lasts = until_ms is None or until_ms > at_ms
    until = links.LATEST if until_ms is None else links.at_time(until_ms) if lasts else first
    # what a broker's death did is seen best when it is half over
    half = links.LATEST if until_ms is None else links.at_time((at_ms + until_ms) // 2)
    return Ways(
        before=links.was(cluster, before, page.path, page.pairs),
        during=links.was(cluster, half, page.path, page.pairs) if lasts else "",
        after="" if until_ms is None else links.was(cluster, until, page.path, page.pairs),
        differences=links.differences(cluster, before, until, page.of),
    )


def single(cluster: str, change: Change, name: str, ours: Actions, page: Page = OVERVIEW) -> Story:
    """A change that belongs to no incident."""
    title = change.what[:1].upper() + change.what[1:]
    sides = tuple(side for side in (change.before, change.after) if side is not None)
    effects = (Effect(Severity.INFO, " to ".join(sides)),) if sides else ()
    return Story(
        id=name,
        at=change.when,
        severity=Severity.INFO,
        title=title,
        effects=effects,
        path=change.path,
        by=by_action(cluster, change, ours),
        ways=ways(cluster, change.zxid, change.when, until_ms=change.when, page=page),
    )


def by_action(cluster: str, change: Change, ours: Actions) -> ByAction | None:
    """The action that wrote a change."""
    entry = None if change.zxid is None else ours.get(change.zxid)
    return None if entry is None else ByAction(entry.by, entry.id, links.action(cluster, entry.id))


class _Candidate(NamedTuple):
    """What may be listed, by what decides whether it is; `make` makes its story."""

    is_open: bool
    at: int
    make: Callable[[], Story]


def names(changes: Iterable[Change]) -> Iterator[tuple[str, Change]]:
    """Changes that stand alone, each with the id of its element."""
    seen: Counter[str] = Counter()
    for change in changes:
        text = f"{change.when} {change.zxid} {change.path} {change.what} {change.after}"
        seen[text] += 1
        yield links.element_id("change", f"{text} {seen[text]}"), change


def stories(
    cluster: str, incidents: Iterable[Incident], singles: Iterable[Change], most: int, ours: Actions = NONE
) -> tuple[Story, ...]:
    """The newest of both, by the time that each shows; none that is open is left out for newer ones."""
    candidates = [
        _Candidate(incident.ended is None, incident.at, partial(story, cluster, incident, ours))
        for incident in incidents
    ]
    for name, change in names(singles):
        candidates.append(_Candidate(False, change.when, partial(single, cluster, change, name, ours)))
    kept = sorted(candidates, key=lambda candidate: (not candidate.is_open, -candidate.at))[:most]
    return tuple(candidate.make() for candidate in sorted(kept, key=lambda candidate: -candidate.at))


def took(incident: Incident) -> str:
    """How long it lasted."""
    return "still open" if incident.ended is None else times.span_text(incident.ended - incident.began)


def span(cluster: str, incident: Incident) -> str:
    """The Timeline of an incident's time."""
    until = incident.last if incident.ended is None else incident.ended
    pairs = (("from", times.utc_text(incident.heard)), ("to", times.utc_text(until + 1)))
    return links.cluster(cluster, "timeline/", urlencode([(name, text) for name, text in pairs if text]))


RECORD: Final = shapes.fields(
    id=shapes.COUNT,
    kind=shapes.TEXT,
    subject=shapes.TEXT,
    title=shapes.TEXT,
    status=shapes.TEXT,
    began=shapes.INSTANT,
    prelude=shapes.TEXT_OR_NULL,
    ended=shapes.TEXT_OR_NULL,
    brokers=shapes.NUMBERS,
    sessions=shapes.TEXTS,
    effects=shapes.TEXTS,
    reason=shapes.TEXT,
    changes=shapes.COUNT,
    zxid=shapes.INTEGER_OR_NULL,
    action=shapes.INTEGER_OR_NULL,
    leaders_moved=shapes.COUNT,
    leaders_back=shapes.COUNT,
    offline=shapes.COUNT,
    led_again=shapes.COUNT,
    left_isr=shapes.COUNT,
    back_in_isr=shapes.COUNT,
    owners_lost=shapes.COUNT,
    owners_claimed=shapes.COUNT,
    partitions=shapes.INTEGER_OR_NULL,
)


def record(incident: Incident, ours: Actions) -> Record:
    """What JSON says of an incident."""
    effects = incident.effects
    entry = ours.get(incident.rows[0].zxid or 0) if incident.rows else None
    action: Record = {"action": None, "action_reason": "no action that is at hand wrote its first change"}
    ended = {"ended": times.utc_text(incident.ended)} if incident.ended is not None else _open("ended")
    return {
        "id": incident.id,
        "kind": incident.kind.value,
        "subject": incident.subject,
        "title": words.title(incident),
        "status": words.severity(incident).value,
        "began": times.utc_text(incident.began),
        **_prelude(incident),
        **ended,
        **({"action": entry.id} if entry else action),
        "brokers": list(incident.brokers),
        "sessions": [
            links.session_text(outage.session) for outage in incident.outages if outage.session is not None
        ],
        "effects": [effect.text for effect in words.effects(incident)],
        "reason": incident.reason,
        "changes": incident.changes,
        "zxid": incident.zxid,
        **(
            {}
            if incident.zxid is not None
            else {"zxid_reason": "only deletions, whose transactions nobody knows"}
        ),
        "leaders_moved": effects.leaders_moved,
        "leaders_back": effects.leaders_back,
        "offline": effects.offline,
        "led_again": effects.led_again,
        "left_isr": effects.left_isr,
        "back_in_isr": effects.back_in_isr,
        "owners_lost": sum(owners.lost for owners in effects.owners.values()),
        "owners_claimed": sum(owners.claimed for owners in effects.owners.values()),
        "partitions": effects.partitions,
        **({} if effects.partitions is not None else {"partitions_reason": "no request says how many"}),
    }


def _prelude(incident: Incident) -> Record:
    if incident.prelude is None:
        return {"prelude": None, "prelude_reason": "it was not heard of before it began"}
    return {"prelude": times.utc_text(incident.prelude)}


def _open(name: str) -> Record:
    return {name: None, f"{name}_reason": "it is still open"}
