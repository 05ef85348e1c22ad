"""What of a cluster is called like that: its topics, groups, brokers, checks and options, by a part of their
names."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import msgspec

from zkdash.cluster.checks import CHECKS, Observations
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables import check_rows, topic_statuses
from zkdash.cluster.tables.topic_statuses import TopicStatuses
from zkdash.kafka.configs import topic_options
from zkdash.kafka.configs.topic_option_meanings import MEANINGS
from zkdash.kafka.values import Broker, EntityConfig, TopicConfig

MOST = 50  # of each kind

TOPIC, GROUP, BROKER, CHECK, OPTION = "topic", "group", "broker", "check", "option"


class Hit(msgspec.Struct, frozen=True):
    """One thing that matches. `about` says what it is beside its status, which is None where it has none;
    `exact` that its name is just what was typed."""

    kind: str
    name: str
    about: str
    exact: bool
    status: Severity | None = None
    words: str = ""


class Hits(msgspec.Struct, frozen=True):
    """The first matches of a kind, and how many there are."""

    shown: tuple[Hit, ...] = ()
    total: int = 0


def find(state: ClusterState, observations: Observations, text: str, most: int = MOST) -> Mapping[str, Hits]:
    """By kind the first `most` whose names hold a text, whatever the case: exact names first, then those
    that begin so, then by name. Brokers are found by their hosts too, checks by what they say and what they
    are computed of. An empty text is in no name.
    """
    if not text:
        return dict.fromkeys((TOPIC, GROUP, BROKER, CHECK, OPTION), Hits())
    judged = topic_statuses.statuses(state, observations.standing)
    return {
        TOPIC: matches(text, state.summaries, lambda name: _topic(judged, name, text), most),
        GROUP: matches(text, state.group_summaries, lambda name: _group(state, name, text), most),
        BROKER: _brokers(state, text, most),
        CHECK: _checks(observations, text, most),
        OPTION: _options(state, text, most),
    }


def matches(text: str, names: Iterable[str], hit: Callable[[str], Hit], most: int) -> Hits:
    """The first of the names that hold a text, each as the hit that is made of it."""
    wanted = text.casefold()
    return _first(text, [name for name in names if wanted in name.casefold()], hit, most)


def _first(text: str, names: list[str], hit: Callable[[str], Hit], most: int) -> Hits:
    wanted = text.casefold()
    first = heapq.nsmallest(
        most,
        names,
        key=lambda name: (name != text, not name.casefold().startswith(wanted), len(name), name),
    )
    return Hits(tuple(map(hit, first)), len(names))


def _topic(judged: TopicStatuses, name: str, text: str) -> Hit:
    topic = judged.summary(name)
    about = _number(topic.partitions, "partition")
    return Hit(TOPIC, name, about, name == text, topic.severity, topic.words)


def _group(state: ClusterState, name: str, text: str) -> Hit:
    group = state.group_summaries[name]
    return Hit(GROUP, name, _number(group.members, "member"), name == text, group.severity, group.words)


def _brokers(state: ClusterState, text: str, most: int) -> Hits:
    hosts = {str(number): _host(seen.value) for number, seen in state.brokers.items()}
    wanted = text.casefold()
    ids = [number for number, host in hosts.items() if text in number or wanted in host.casefold()]
    return _first(text, ids, lambda number: _broker(number, hosts[number], text), most)


def _broker(number: str, host: str, text: str) -> Hit:
    return Hit(BROKER, number, host, text in {number, host}, Severity.OK, "registered")


def _host(broker: object) -> str:
    return (broker.host or "") if isinstance(broker, Broker) else ""


def _checks(observations: Observations, text: str, most: int) -> Hits:
    """By number first ("D9"), then those whose sentences hold the text, then those that only go by it."""
    wanted = text.casefold()
    ranked = []
    for at, check in enumerate(CHECKS):
        sentences = (check.id, f"{check.passing}\n{check.failing(2, 2)}", f"{check.computed}\n{check.remedy}")
        rank = next((rank for rank, words in enumerate(sentences) if wanted in words.casefold()), None)
        if rank is not None:
            ranked.append((check.id.casefold() != wanted, rank, at, check))
    rows = [check_rows.row(check, observations) for *_, check in sorted(ranked)[:most]]
    shown = tuple(
        Hit(CHECK, row.check, row.sentence, row.check.casefold() == wanted, row.status, row.verdict.value)
        for row in rows
    )
    return Hits(shown, len(ranked))


def _options(state: ClusterState, text: str, most: int) -> Hits:
    """The options that something sets, and those that a topic can set."""
    wanted = text.casefold()
    used: Counter[str] = Counter(
        name for config in _configs(state) for name in config if wanted in name.casefold()
    )
    others = [name for name in topic_options.KNOWN if wanted in name and name not in used]
    return _first(text, [*used, *others], lambda name: _option(name, used[name], text), most)


def _configs(state: ClusterState) -> Iterable[Mapping[str, str]]:
    for topic in state.topics.values():
        if isinstance(topic.config, TopicConfig):
            yield topic.config.config
    for seen in state.configs.values():
        if isinstance(seen.value, EntityConfig):
            yield seen.value.config


def _option(name: str, count: int, text: str) -> Hit:
    where = f"set on {count} {'entity' if count == 1 else 'entities'}" if count else "set nowhere"
    meaning = MEANINGS.get(name, "")
    return Hit(OPTION, name, f"{meaning}; {where}" if meaning else where, name == text)


def _number(count: int | None, noun: str) -> str:
    if count is None:
        return f"{noun}s unknown"
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
