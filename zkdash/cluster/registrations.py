"""What the registrations of a cluster's brokers say side by side: facts that no single one shows.

They are the checks D12, D13 and D31 to D35 of the catalogue as sentences, without the waiting of a check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from zkdash.cluster.state import ClusterState
from zkdash.cluster.summary import Status
from zkdash.cluster.tone import Tone
from zkdash.kafka.values import Broker

# A leader is moved back where more than this share is not led by its preferred broker, by default:
# leader.imbalance.per.broker.percentage.
MOST_SKEW_PERCENT = 10
_MOST_LOAD = 1.5  # times the mean
_FEW = 10  # a broker on average: under it one partition more or less says nothing
_ENDPOINT = re.compile(r"(?:(?P<listener>[^:/]*)://)?(?P<host>.*):(?P<port>-?[0-9]+)", re.DOTALL)
_NOWHERE = re.compile(r"|localhost|127\..*|0\.0\.0\.0|::1|::", re.IGNORECASE)
_MOST_NAMED = 8


def notes(state: ClusterState) -> tuple[Status, ...]:
    """What an operator should know, worst first."""
    known = {n: seen.value for n, seen in sorted(state.brokers.items()) if isinstance(seen.value, Broker)}
    found = [*_doubled(known), *_unreachable(known), *_listeners(known), *_racks(known)]
    found += [*_versions(known), *_skewed(state)]
    return tuple(sorted(found, key=lambda note: note[0].rank))


def split(endpoint: str) -> tuple[str, str, str]:
    """(listener, host without brackets, port) of `LISTENER://host:port`; anything else is all host."""
    found = _ENDPOINT.fullmatch(endpoint)
    if not found:
        return "", endpoint, ""
    return found["listener"] or "", found["host"].removeprefix("[").removesuffix("]"), found["port"]


def _endpoints(broker: Broker) -> Iterator[tuple[str, str, str]]:
    if broker.endpoints:
        yield from map(split, broker.endpoints)
    elif broker.host is not None:
        yield "", broker.host, str(broker.port)


def _doubled(known: Mapping[int, Broker]) -> Iterator[Status]:
    """D31."""
    where: dict[str, list[int]] = {}
    for number, broker in known.items():
        for place in {f"{host}:{port}" for _, host, port in _endpoints(broker)}:
            where.setdefault(place, []).append(number)
    for place, numbers in where.items():
        if len(numbers) > 1:
            yield Tone.CRITICAL, f"{_brokers(numbers)} announce the same address, {place}."


def _unreachable(known: Mapping[int, Broker]) -> Iterator[Status]:
    """D34."""
    numbers = [
        number
        for number, broker in known.items()
        if any(_NOWHERE.fullmatch(host) for _, host, _ in _endpoints(broker))
    ]
    if numbers:
        verb = "announces" if len(numbers) == 1 else "announce"
        yield (
            Tone.WARNING,
            f"{_brokers(numbers)} {verb} an address like localhost, at which no other host finds a broker.",
        )


def _listeners(known: Mapping[int, Broker]) -> Iterator[Status]:
    """D33."""
    by_names: dict[tuple[str, ...], list[int]] = {}
    for number, broker in known.items():
        names = tuple(sorted({listener for listener, _, _ in _endpoints(broker)} - {""}))
        if names:
            by_names.setdefault(names, []).append(number)
    if len(by_names) > 1:
        told = "; ".join(f"{', '.join(names)} on {_ids(numbers)}" for names, numbers in by_names.items())
        yield Tone.WARNING, f"Brokers differ in their listeners: {told}."


def _racks(known: Mapping[int, Broker]) -> Iterator[Status]:
    """D35."""
    without = [number for number, broker in known.items() if not broker.rack]
    if without and len(without) < len(known):
        verb = "has" if len(without) == 1 else "have"
        yield (
            Tone.WARNING,
            f"{_brokers(without)} {verb} no rack while others have one: replicas are not spread over racks.",
        )


def _versions(known: Mapping[int, Broker]) -> Iterator[Status]:
    """D32."""
    versions = sorted({broker.version for broker in known.values() if broker.version is not None})
    if len(versions) > 1:
        told = _listed([str(version) for version in versions])
        yield (
            Tone.INFO,
            f"Registrations are of versions {told}: an upgrade is under way, or was not finished.",
        )


def _skewed(state: ClusterState) -> Iterator[Status]:
    """D13, over the registered brokers."""
    for what, of in (("leads", "leaders"), ("holds", "replicas")):
        loads = {n: getattr(state.loads[n], of) if n in state.loads else 0 for n in state.brokers}
        mean = sum(loads.values()) / len(loads) if loads else 0
        heavy = sorted(number for number, load in loads.items() if load > _MOST_LOAD * mean)
        if heavy and mean >= _FEW:
            verb = what if len(heavy) == 1 else what.removesuffix("s")
            yield (
                Tone.INFO,
                f"{_brokers(heavy)} {verb} over {_MOST_LOAD} times the mean of {mean:.0f} {of} a broker.",
            )


def _brokers(numbers: Iterable[int]) -> str:
    ids = list(numbers)
    return f"Broker {ids[0]}" if len(ids) == 1 else f"Brokers {_ids(ids)}"


def _ids(numbers: Iterable[int]) -> str:
    return _listed([str(number) for number in numbers])


def _listed(words: list[str]) -> str:
    """`1, 2 and 3`, cut where there are many."""
    if len(words) > _MOST_NAMED:
        words = [*words[:_MOST_NAMED], f"{len(words) - _MOST_NAMED} more"]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
