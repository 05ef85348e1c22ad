"""What the registrations of a cluster's brokers say side by side: facts that no single one shows.

They are the checks D12, D13 and D31 to D35 of the catalogue as sentences, without the waiting of a check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.summary import Status
from zkdash.kafka.values import Broker

# A leader is moved back where more than this share is not led by its preferred broker, by default:
# leader.imbalance.per.broker.percentage.
MOST_SKEW_PERCENT = 10
MOST_LOAD = 1.5  # times the mean
_FEW = 10  # a broker on average: under it one partition more or less says nothing
_ENDPOINT = re.compile(r"(?:(?P<listener>[^:/]*)://)?(?P<host>.*):(?P<port>-?[0-9]+)", re.DOTALL)
_NOWHERE = re.compile(r"|0\.0\.0\.0|::")
_LOOPBACK = re.compile(r"localhost|127\..*|::1", re.IGNORECASE)
_MOST_NAMED = 8
_UPGRADE = "an upgrade is under way, or was not finished."


def notes(state: ClusterState) -> tuple[Status, ...]:
    """What an operator should know, worst first."""
    brokers = registered(state)
    found_notes = [
        (Severity.CRITICAL, f"{_brokers(numbers)} announce the same address, {place}.")
        for place, numbers in doubled(brokers).items()
    ]
    found_notes += [
        *_unreachable(brokers),
        *_listeners(brokers),
        *_racks(brokers),
        *_versions(brokers),
        *_skewed(state),
    ]
    return tuple(sorted(found_notes, key=lambda note: note[0].rank))


def registered(state: ClusterState) -> Mapping[int, Broker]:
    """The registrations that parse, by broker id in its order."""
    return {n: seen.value for n, seen in sorted(state.brokers.items()) if isinstance(seen.value, Broker)}


def doubled(brokers: Mapping[int, Broker]) -> Mapping[str, list[int]]:
    """Brokers by the host:port that more than one of them announces (D31)."""
    where: dict[str, list[int]] = {}
    for number, broker in brokers.items():
        for place in {f"{host}:{port}" for _, host, port in _endpoints(broker)}:
            where.setdefault(place, []).append(number)
    return {place: numbers for place, numbers in where.items() if len(numbers) > 1}


def unreachable(brokers: Mapping[int, Broker]) -> list[int]:
    """Brokers that announce an address at which no other host finds them (D34).

    Where every broker is on the loopback interface the whole cluster is on one host, and says the truth.
    """
    hosts = {number: [host for _, host, _ in _endpoints(broker)] for number, broker in brokers.items()}
    one_host = all(_LOOPBACK.fullmatch(host) for addresses in hosts.values() for host in addresses)
    return [
        number
        for number, addresses in hosts.items()
        if any(_NOWHERE.fullmatch(host) or (_LOOPBACK.fullmatch(host) and not one_host) for host in addresses)
    ]


def listeners(brokers: Mapping[int, Broker]) -> Mapping[tuple[str, ...], list[int]]:
    """Brokers by the names of their listeners, of those that name any (D33)."""
    by_names: dict[tuple[str, ...], list[int]] = {}
    for number, broker in brokers.items():
        names = tuple(sorted({listener for listener, _, _ in _endpoints(broker)} - {""}))
        if names:
            by_names.setdefault(names, []).append(number)
    return by_names


def rackless(brokers: Mapping[int, Broker]) -> list[int]:
    """Brokers without a rack, where others have one (D35)."""
    without = [number for number, broker in brokers.items() if not broker.rack]
    return without if len(without) < len(brokers) else []


def versions(brokers: Mapping[int, Broker]) -> Mapping[int, list[int]]:
    """Brokers by the version of their registration, of those of 0.8 and later (D32)."""
    by_version: dict[int, list[int]] = {}
    for number, broker in brokers.items():
        if broker.version is not None:
            by_version.setdefault(broker.version, []).append(number)
    return by_version


def heavy(state: ClusterState, most: float) -> Mapping[str, tuple[float, Mapping[int, int]]]:
    """Registered brokers that carry more than `most` times the mean of them all (D13).

    By what they carry ("leaders", "replicas"): the mean, and those brokers' numbers. Nothing where the
    mean is too small to say anything.
    """
    overloads = {}
    for of in ("leaders", "replicas"):
        loads = {n: getattr(state.loads[n], of) if n in state.loads else 0 for n in sorted(state.brokers)}
        mean = sum(loads.values()) / len(loads) if loads else 0.0
        over = {number: load for number, load in loads.items() if load > most * mean}
        if over and mean >= _FEW:
            overloads[of] = (mean, over)
    return overloads


def split(endpoint: str) -> tuple[str, str, str]:
    """(listener, host without brackets, port) of `LISTENER://host:port`; anything else is all host."""
    match = _ENDPOINT.fullmatch(endpoint)
    if not match:
        return "", endpoint, ""
    return match["listener"] or "", match["host"].removeprefix("[").removesuffix("]"), match["port"]


def _endpoints(broker: Broker) -> Iterator[tuple[str, str, str]]:
    if broker.endpoints:
        yield from map(split, broker.endpoints)
    elif broker.host is not None:
        yield "", broker.host, str(broker.port)


def _unreachable(brokers: Mapping[int, Broker]) -> Iterator[Status]:
    numbers = unreachable(brokers)
    if numbers:
        verb = "announces" if len(numbers) == 1 else "announce"
        yield (
            Severity.WARNING,
            f"{_brokers(numbers)} {verb} an address like localhost, at which no other host finds a broker.",
        )


def _listeners(brokers: Mapping[int, Broker]) -> Iterator[Status]:
    by_names = listeners(brokers)
    if len(by_names) > 1:
        differing = "; ".join(f"{', '.join(names)} on {_ids(numbers)}" for names, numbers in by_names.items())
        yield Severity.WARNING, f"Brokers differ in their listeners: {differing}."


def _racks(brokers: Mapping[int, Broker]) -> Iterator[Status]:
    without = rackless(brokers)
    if without:
        verb = "has" if len(without) == 1 else "have"
        yield (
            Severity.WARNING,
            f"{_brokers(without)} {verb} no rack while others have one: replicas are not spread over racks.",
        )


def _versions(brokers: Mapping[int, Broker]) -> Iterator[Status]:
    by_version = versions(brokers)
    if len(by_version) > 1:
        yield (
            Severity.INFO,
            f"Registrations are of versions {_listed(list(map(str, sorted(by_version))))}: {_UPGRADE}",
        )


def _skewed(state: ClusterState) -> Iterator[Status]:
    for of, (mean, over) in heavy(state, MOST_LOAD).items():
        what = "lead" if of == "leaders" else "hold"
        verb = f"{what}s" if len(over) == 1 else what
        yield (
            Severity.INFO,
            f"{_brokers(over)} {verb} over {MOST_LOAD} times the mean of {mean:.0f} {of} a broker.",
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
