"""What an incident is called, and what followed from it, in words: the same on every page and in JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from zkdash.cluster.changes.change import listed, number
from zkdash.cluster.incidents.incident import Effects, Incident, Kind
from zkdash.cluster.model.severity import Severity


class Effect(NamedTuple):
    """One thing that followed: how bad it is, and the words."""

    severity: Severity
    text: str


# What ZookeeperConsumerConnector puts after the host: when it began, and a part of a UUID.
_UNIQUE: Final = re.compile("-[0-9]{13}-[0-9a-f]{8}")


def title(incident: Incident) -> str:
    """A headline of a few words."""
    if incident.kind is Kind.LEADERS and incident.changes == 1:
        return _capital(incident.rows[0].what)
    return _TITLES[incident.kind](incident)


def severity(incident: Incident) -> Severity:
    """How bad it is now: what is over is only told."""
    effects = incident.effects
    if incident.ended is not None:
        return Severity.OK
    if incident.away or effects.offline > effects.led_again:
        return Severity.CRITICAL
    if incident.kind in {Kind.BROKER, Kind.ROLLING, Kind.ISR}:
        return Severity.WARNING
    return Severity.INFO


def effects(incident: Incident) -> tuple[Effect, ...]:
    """What followed, the worst first; each number is a count over the incident's changes."""
    if (
        incident.kind is Kind.DELETION
    ):  # that its replicas left and its partitions are led by nobody is the deletion
        return tuple(_others(incident))
    it = incident.effects
    return _worst_first(
        (*_offline(it), *_leaders(it), *_replicas(it), *_groups(incident), *_others(incident))
    )


def effects_elsewhere(incident: Incident) -> tuple[Effect, ...]:
    """The same but for partitions offline and replicas out of sync, of which the state tells more."""
    return _worst_first((*_leaders(incident.effects), *_groups(incident), *_others(incident)))


def _worst_first(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    return tuple(sorted(effects, key=lambda effect: effect.severity.rank))


def _broker(incident: Incident) -> str:
    away = [outage.broker for outage in incident.away]
    if away:
        return f"{_brokers(away)} {'is' if len(away) == 1 else 'are'} gone"
    times = len(incident.outages)
    if incident.ended is None:
        return f"{_brokers(incident.brokers[:1])} is back, not yet in sync"
    return (
        f"Broker {incident.brokers[0]} was away"
        if times == 1
        else f"Broker {incident.brokers[0]} was away {times} times"
    )


def _rolling(incident: Incident) -> str:
    if incident.away:
        return _broker(incident)
    return f"Rolling restart of brokers {listed(sorted(set(incident.brokers)))}"


def _controller(incident: Incident) -> str:
    if incident.effects.controller is None:
        return "No controller"
    return f"Controller moved to broker {incident.effects.controller}"


def _offline(it: Effects) -> Iterator[Effect]:
    offline = it.offline - it.led_again
    if offline > 0:
        yield Effect(Severity.CRITICAL, f"{number(offline, 'partition', 'partitions')} offline")
    elif it.offline:
        yield Effect(Severity.INFO, f"{number(it.offline, 'partition was', 'partitions were')} offline")


def _leaders(it: Effects) -> Iterator[Effect]:
    if it.leaders_moved:
        to = listed(sorted(it.moved_to))
        yield Effect(Severity.INFO, f"{number(it.leaders_moved, 'leader', 'leaders')} moved to {to}")
    if it.leaders_back:
        yield Effect(Severity.INFO, f"{number(it.leaders_back, 'leader', 'leaders')} moved back")


def _replicas(it: Effects) -> Iterator[Effect]:
    out = it.left_isr - it.back_in_isr
    if it.left_isr:
        what = f"{number(it.left_isr, 'replica', 'replicas')} left the ISR"
        yield Effect(Severity.WARNING if out > 0 else Severity.INFO, f"{what}, {it.back_in_isr} came back")


def _groups(incident: Incident) -> Iterator[Effect]:
    for name, owners in sorted(incident.effects.owners.items()):
        lacking = owners.lost - owners.claimed
        if lacking > 0:
            yield Effect(Severity.WARNING, f"{name} lost {number(lacking, 'owner', 'owners')}")
        elif incident.kind is not Kind.REBALANCE and owners.lost + owners.claimed:
            yield Effect(Severity.INFO, f"{name} rebalanced")
    if incident.kind is not Kind.REBALANCE:
        return
    if incident.reason:
        yield Effect(Severity.INFO, _reason(incident))
    if incident.moved is not None:
        yield Effect(
            Severity.INFO, f"{incident.moved} of {number(len(incident.now), 'partition', 'partitions')} moved"
        )


def _reason(incident: Incident) -> str:
    names = ", ".join(
        _UNIQUE.sub("", name.removeprefix(f"{incident.subject}_")) for name in incident.effects.members
    )
    more = incident.effects.joined + incident.effects.left - len(incident.effects.members)
    return f"{incident.reason}: {names}{f' and {more} more' if more > 0 else ''}"


def _others(incident: Incident) -> Iterator[Effect]:
    it = incident.effects
    if incident.prelude is not None and incident.prelude < incident.began:
        yield Effect(
            Severity.INFO, f"first signs {max(1, round((incident.began - incident.prelude) / 1000))} s before"
        )
    if it.controller is not None and incident.kind is not Kind.CONTROLLER:
        yield Effect(Severity.INFO, f"controller moved to {it.controller}")
    if it.partitions is not None:
        verbs = {Kind.REASSIGNMENT: "moved", Kind.DELETION: "deleted", Kind.ELECTION: "elected"}
        ended = incident.ended is not None
        verb = verbs.get(incident.kind, "") if ended else "under way"
        yield Effect(Severity.INFO, f"{number(it.partitions, 'partition', 'partitions')} {verb}")
    if incident.kind is Kind.CONFIG and incident.rows:
        last = incident.rows[-1]
        yield Effect(Severity.INFO, f"{last.before or 'default'} to {last.after or 'default'}")
    if incident.kind is Kind.ROLLING:
        for outage in incident.outages:
            if outage.back is not None:
                seconds = (outage.back - outage.gone) / 1000
                yield Effect(Severity.INFO, f"broker {outage.broker} away {seconds:.0f} s")


def _brokers(ids: list[int] | tuple[int, ...]) -> str:
    return f"{'Broker' if len(ids) == 1 else 'Brokers'} {listed(ids)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _reassignment(incident: Incident) -> str:
    if incident.ended is None:
        return f"Reassigning {incident.subject or 'partitions'}"
    return f"{incident.subject or 'Partitions'} reassigned"


def _deletion(incident: Incident) -> str:
    return (
        f"Deleting topic {incident.subject}"
        if incident.ended is None
        else f"Topic {incident.subject} deleted"
    )


def _rebalance(incident: Incident) -> str:
    return f"{incident.subject} {'is rebalancing' if incident.ended is None else 'rebalanced'}"


_TITLES: Final[Mapping[Kind, Callable[[Incident], str]]] = {
    Kind.BROKER: _broker,
    Kind.ROLLING: _rolling,
    Kind.ISR: lambda incident: f"Replicas of broker {incident.subject} fell out of sync",
    Kind.LEADERS: lambda incident: f"Leaders moved away from broker {incident.subject}",
    Kind.CONTROLLER: _controller,
    Kind.REASSIGNMENT: _reassignment,
    Kind.ELECTION: lambda _: "Preferred leader election",
    Kind.DELETION: _deletion,
    Kind.REBALANCE: _rebalance,
    Kind.CONFIG: lambda incident: f"Configuration of topic {incident.subject} changed",
}
