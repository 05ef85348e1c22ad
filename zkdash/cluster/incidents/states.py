"""States of partitions: leaders that moved, replicas that left an ISR and came back into it."""

from __future__ import annotations

import immutables
import msgspec

from zkdash.cluster.changes import Change
from zkdash.cluster.changes.change import Transition
from zkdash.cluster.changes.topics import is_of_isr
from zkdash.cluster.incidents import brokers
from zkdash.cluster.incidents.book import ROLL_MS, Book, added
from zkdash.cluster.incidents.incident import MOST_TOPICS, Effects, Incident, Kind
from zkdash.kafka.znode_kinds import Place

_replace = msgspec.structs.replace


def state(book: Book, change: Change, place: Place) -> bool:
    """/brokers/topics/T/partitions/P/state: one sentence, about the leader or about the ISR."""
    transition = _transition(change)
    incident = _cause(book, transition, place.name, change.when)
    if incident is None:
        return False
    _add(book, incident, change, (transition,), place.name)
    return True


def flood(book: Book, change: Change) -> bool:
    """One sentence about many partitions: all of it belongs to the first incident that explains any of it."""
    for transition in sorted(change.transitions, key=_size, reverse=True):
        incident = _cause(book, transition, "", change.when)
        if incident is not None:
            _add(book, incident, change, change.transitions, "")
            return True
    return False


def _add(
    book: Book, incident: Incident, change: Change, transitions: tuple[Transition, ...], topic: str
) -> None:
    failed = frozenset(incident.brokers or ([int(incident.subject)] if incident.subject.isdecimal() else []))
    effects = incident.effects
    for transition in transitions:
        effects = _with_leader(effects, transition, failed)
        left, back = (
            len(transition.lost) * transition.partitions,
            len(transition.back) * transition.partitions,
        )
        out_now = effects.left_isr + left - effects.back_in_isr - back
        effects = _replace(
            effects,
            left_isr=effects.left_isr + left,
            back_in_isr=effects.back_in_isr + back,
            most_out=max(effects.most_out, out_now),
        )
    more = effects.offline - effects.led_again - incident.effects.offline + incident.effects.led_again
    book.add(incident, change, effects, offline=_offline_of(incident, topic, more))
    touched = {incident.id}
    for transition in transitions:
        for broker in (*transition.lost, *transition.back):
            step = transition.partitions if broker in transition.lost else -transition.partitions
            touched.add(_count(book, broker, topic, step, change.when))
    for number in sorted(touched):
        _settle(book, number, change.when)


def _offline_of(incident: Incident, topic: str, more: int) -> immutables.Map[str, int]:
    """Its partitions without a leader by topic, with more of them (or fewer)."""
    offline = incident.offline
    if not more:
        return offline
    key = topic if topic in offline or len(offline) < MOST_TOPICS else ""
    return offline.set(key, offline.get(key, 0) + more)


def _count(book: Book, broker: int, topic: str, step: int, when: int) -> int:
    """Count replicas of a broker that went out of sync, or came back: the incident that is about it, or 0."""
    incident = brokers.of(book, broker, when) or book.find(Kind.ISR, str(broker))
    if incident is None:
        return 0
    key = (
        (broker, topic)
        if (broker, topic) in incident.out or len(incident.out) < MOST_TOPICS
        else (broker, "")
    )
    out = incident.out.set(key, incident.out.get(key, 0) + step)
    book.change(incident, out=out, missing=incident.missing + step)
    return incident.id


def _settle(book: Book, number: int, when: int) -> None:
    """End an incident that this change ended, or open it again."""
    incident = book.get(number)
    if incident is None or incident.kind not in {Kind.BROKER, Kind.ROLLING, Kind.ISR}:
        return
    if incident.ended is not None and incident.is_out:
        book.reopen(incident)
    elif incident.kind is not Kind.ISR:
        brokers.settle(book, incident, when)
    elif incident.ended is None and not incident.is_out:
        book.end(incident, when)


def _with_leader(effects: Effects, transition: Transition, failed: frozenset[int]) -> Effects:
    was, now, count = transition.led, transition.leads, transition.partitions
    if was == now:
        return effects
    if now is None:
        return _replace(effects, offline=effects.offline + count)
    if was is None:
        return _replace(effects, led_again=effects.led_again + count)
    if now in failed and was not in failed:
        return _replace(effects, leaders_back=effects.leaders_back + count)
    return _replace(
        effects,
        leaders_moved=effects.leaders_moved + count,
        moved_to=added(effects.moved_to, [(now, count)]),
    )


def _cause(book: Book, transition: Transition, topic: str, when: int) -> Incident | None:
    """The incident that explains how a partition's state changed; a new one where that is one by itself."""
    deleted = book.find(Kind.DELETION, topic) if topic else None
    if deleted is not None:
        return deleted
    requested = _asked(book, topic)
    if transition.led != transition.leads:
        return _of_leader(book, transition, when) or requested
    for broker in (*transition.lost, *transition.back):
        incident = brokers.of(book, broker, when) or book.find(Kind.ISR, str(broker))
        if incident is not None:
            return incident
    if requested is not None or not transition.lost:
        return requested
    return _begin(book, Kind.ISR, transition.lost[0], when)


def _of_leader(book: Book, transition: Transition, when: int) -> Incident | None:
    was, now = transition.led, transition.leads
    if was is None:
        return _offline(book, now, when)
    incident = brokers.of(book, was, when)
    if incident is None and now is not None:
        # leader.imbalance.check.interval.seconds is 5 minutes: then it gets back what it led before.
        incident = brokers.of(book, now, when, within_ms=ROLL_MS)
    if incident is not None:
        return incident
    if now is None:
        return book.find(Kind.ISR, str(was)) or _begin(book, Kind.ISR, was, when)
    requested = book.find(Kind.ELECTION) or book.find(Kind.REASSIGNMENT)
    return requested or book.find(Kind.LEADERS, str(was)) or _begin(book, Kind.LEADERS, was, when)


def _offline(book: Book, now: int | None, when: int) -> Incident | None:
    """The incident that took a partition offline which is led again: its new leader's own before others."""
    own = None if now is None else brokers.of(book, now, when)
    if own is not None and own.leaderless:
        return own
    open_ = (incident for incident in book.all() if incident.ended is None)
    return next((incident for incident in open_ if incident.leaderless), own)


def _asked(book: Book, topic: str) -> Incident | None:
    """The request that moves replicas of a topic."""
    own = book.find(Kind.REASSIGNMENT, topic) if topic else None
    return own or book.find(Kind.REASSIGNMENT) or book.find(Kind.ELECTION)


def _begin(book: Book, kind: Kind, broker: int, when: int) -> Incident:
    return book.begin(kind, str(broker), when)


def _transition(change: Change) -> Transition:
    if not is_of_isr(change.what):
        return Transition(_number(change.before), _number(change.after), (), ())
    before, after = _numbers(change.before), _numbers(change.after)
    lost = tuple(broker for broker in before if broker not in after)
    return Transition(None, None, lost, tuple(broker for broker in after if broker not in before))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(int(word) for word in (text or "").split(", ") if word.isdecimal())


def _size(transition: Transition) -> int:
    return transition.partitions
