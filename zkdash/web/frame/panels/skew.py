"""How evenly a topic lies on its brokers, and how a broker compares with the others: in numbers that say how
they were computed, and of what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.analysis import skew
from zkdash.cluster.analysis.skew import TopicSkew
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic
from zkdash.live.parts import Block
from zkdash.web.frame import cells, shapes
from zkdash.web.frame.cells import Cell, Record
from zkdash.web.frame.markup import format_html

_MOST_NAMED = 8


class Figure(msgspec.Struct, frozen=True):
    """One number: `of` says what was counted here, `how` how it is computed anywhere."""

    label: str
    shown: str
    of: str
    how: str


def mean(total: int, brokers: int) -> str:
    """What a broker is compared with, in words."""
    if not brokers:
        return "no broker is registered"
    return (
        f"{cells.grouped(total)} on {brokers} registered brokers: {total / brokers:.1f} a broker is the mean"
    )


class OverMean(Cell, frozen=True):
    """How far a count lies over a mean, in percent of it; under it where it is negative."""

    percent: int

    @property
    def plain(self) -> int:
        return self.percent

    def html(self) -> SafeString:
        return format_html('<td class="num">{}</td>', signed(self.percent))


def block(topic: Topic | None, state: ClusterState) -> Block:
    """The live numbers of a topic; none where no replica is assigned."""
    topic_skew = _skew(topic, state)
    return Block(
        id="skew", template="frame/skew.html", values=() if topic_skew is None else _figures(topic_skew)
    )


_CLOSE: Final[shapes.Schema] = {"type": ["number", "null"]}
RECORD: Final = shapes.fields(
    brokers_spread_percent=_CLOSE,
    brokers_skew_percent=_CLOSE,
    brokers_leader_skew_percent=_CLOSE,
    preferred_leaders_percent=_CLOSE,
    even_replicas=_CLOSE,
    even_leaders=_CLOSE,
    skewed_brokers=shapes.NUMBERS,
    leader_skewed_brokers=shapes.NUMBERS,
)


def record(topic: Topic | None, state: ClusterState) -> Record:
    """What JSON says of them; empty where no replica is assigned."""
    topic_skew = _skew(topic, state)
    if topic_skew is None:
        return {}
    return {
        "brokers_spread_percent": topic_skew.spread_percent,
        "brokers_skew_percent": topic_skew.skew_percent,
        "brokers_leader_skew_percent": topic_skew.leader_skew_percent,
        "preferred_leaders_percent": topic_skew.preferred_percent,
        "even_replicas": topic_skew.even_replicas,
        "even_leaders": topic_skew.even_leaders,
        "skewed_brokers": list(topic_skew.skewed),
        "leader_skewed_brokers": list(topic_skew.leader_skewed),
    }


def signed(percent: int) -> str:
    """A distance from the mean: `+12`, `−3`, `0`."""
    return f"{percent:+d}".replace("-", "−") if percent else "0"


def _skew(topic: Topic | None, state: ClusterState) -> TopicSkew | None:
    return None if topic is None else skew.of_topic(topic, state.brokers)


def _figures(topic_skew: TopicSkew) -> tuple[Figure, ...]:
    brokers = len(topic_skew.replicas)
    return (
        Figure(
            "Brokers spread",
            _percent(topic_skew.spread_percent),
            f"{topic_skew.holding} of {topic_skew.live} registered brokers hold a replica of it",
            "The share of the cluster’s registered brokers that hold at least one replica of the topic.",
        ),
        Figure(
            "Brokers skew",
            _percent(topic_skew.skew_percent),
            _uneven(
                topic_skew.skewed,
                topic_skew.replicas,
                brokers,
                f"hold more than {topic_skew.even_replicas} replicas",
            ),
            "The share of the topic’s brokers that hold more replicas than the even share: all its replicas, "
            "divided by the brokers that hold any, rounded up.",
        ),
        Figure(
            "Leader skew",
            _percent(topic_skew.leader_skew_percent),
            _uneven(
                topic_skew.leader_skewed,
                topic_skew.leaders,
                brokers,
                f"lead more than {topic_skew.even_leaders} partitions",
            ),
            "The share of the topic’s brokers that lead more partitions than the even share: its partitions, "
            "divided by the brokers that hold a replica, rounded up.",
        ),
        Figure(
            "Preferred leaders",
            _percent(topic_skew.preferred_percent),
            f"{topic_skew.preferred} of {topic_skew.preferable} partitions that have a leader "
            "and do not move",
            "The share of partitions that the first replica of their assignment leads.",
        ),
    )


def _uneven(skewed: tuple[int, ...], counts: Mapping[int, int], brokers: int, what: str) -> str:
    """How many brokers, and which with how many each."""
    sentence = f"{len(skewed)} of {brokers} brokers {what}"
    if not skewed:
        return sentence
    named = ", ".join(f"{broker} ({cells.grouped(counts[broker])})" for broker in skewed[:_MOST_NAMED])
    more = f" and {len(skewed) - _MOST_NAMED} more" if len(skewed) > _MOST_NAMED else ""
    return f"{sentence}: {named}{more}"


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:g} %"
