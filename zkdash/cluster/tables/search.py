"""What of a cluster is called like that: topics, groups and brokers by a part of their names."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.tone import Tone
from zkdash.kafka.values import Broker

MOST = 50  # of each kind

TOPIC, GROUP, BROKER = "topic", "group", "broker"


class Hit(msgspec.Struct, frozen=True):
    """One thing that was found. `about` says what it is beside its status; `exact` that it is just it."""

    kind: str
    name: str
    status: Tone
    words: str
    about: str
    exact: bool


class Found(msgspec.Struct, frozen=True):
    """Of each kind the first `MOST`: exact names first, then those that begin so, then by name.

    `totals` counts all of each kind that match, in the order topics, groups, brokers.
    """

    topics: tuple[Hit, ...]
    groups: tuple[Hit, ...]
    brokers: tuple[Hit, ...]
    totals: tuple[int, int, int]

    @property
    def only(self) -> Hit | None:
        """The one thing of exactly that name; None where there is none, or more than one."""
        exact = [hit for hit in (*self.topics, *self.groups, *self.brokers) if hit.exact]
        return exact[0] if len(exact) == 1 else None


def find(state: ClusterState, text: str) -> Found:
    """Look for a text in names (and brokers' hosts), whatever the case. An empty one finds nothing."""
    if not text:
        return Found((), (), (), (0, 0, 0))
    names = {number: _host(seen.value) for number, seen in state.brokers.items()}
    brokers = [str(number) for number, host in names.items() if _matches(text, host) or text in str(number)]
    topics = _first(text, state.summaries)
    groups = _first(text, state.group_summaries)
    return Found(
        tuple(_topic(state, name, text) for name in topics[:MOST]),
        tuple(_group(state, name, text) for name in groups[:MOST]),
        tuple(_broker(number, names[int(number)], text) for number in _ordered(text, brokers)[:MOST]),
        (len(topics), len(groups), len(brokers)),
    )


def _first(text: str, names: Iterable[str]) -> list[str]:
    return _ordered(text, [name for name in names if _matches(text, name)])


def _ordered(text: str, names: list[str]) -> list[str]:
    wanted = text.casefold()
    return sorted(
        names, key=lambda name: (name != text, not name.casefold().startswith(wanted), len(name), name)
    )


def _matches(text: str, name: str) -> bool:
    return text.casefold() in name.casefold()


def _topic(state: ClusterState, name: str, text: str) -> Hit:
    one = state.summaries[name]
    return Hit(TOPIC, name, one.tone, one.words, _number(one.partitions, "partition"), name == text)


def _group(state: ClusterState, name: str, text: str) -> Hit:
    one = state.group_summaries[name]
    return Hit(GROUP, name, one.tone, one.words, _number(one.members, "member"), name == text)


def _broker(number: str, host: str, text: str) -> Hit:
    return Hit(BROKER, number, Tone.OK, "registered", host, text in {number, host})


def _host(broker: object) -> str:
    return (broker.host or "") if isinstance(broker, Broker) else ""


def _number(count: int | None, noun: str) -> str:
    if count is None:
        return f"{noun}s unknown"
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
