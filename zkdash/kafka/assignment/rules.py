"""The rules by which consumers share partitions out, with their releases, and those of the documents."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping
from typing import Any

from zkdash.kafka.assignment import ranges, round_robin
from zkdash.kafka.assignment.demand import Demand, Plan


class Rule(enum.Enum):
    """A rule; which one a group follows is nowhere in ZooKeeper. The value is the word for URLs and JSON.

    RANGE_07: 0.7. RANGE: 0.8 to 1.1, the default. ROUND_ROBIN_ALIKE: 0.8.2 to 0.10.1, the same threads
    for every topic. ROUND_ROBIN_BRACKETS: 0.10.2 and 0.11. ROUND_ROBIN_HYPHEN: 1.0 and 1.1. FLOOR and
    CEIL: the two readings of the documents, which no release follows.
    """

    RANGE_07 = "range-0.7"
    RANGE = "range"
    ROUND_ROBIN_ALIKE = "roundrobin-0.8.2"
    ROUND_ROBIN_BRACKETS = "roundrobin-0.10.2"
    ROUND_ROBIN_HYPHEN = "roundrobin-1.0"
    FLOOR = "floor"
    CEIL = "ceil"

    @property
    def title(self) -> str:
        return _ABOUT[self][0]

    @property
    def releases(self) -> str:
        """Which releases of the consumer follow it, in words."""
        return _ABOUT[self][1]

    @property
    def source(self) -> str:
        return _ABOUT[self][2]

    @property
    def is_code(self) -> bool:
        """Whether a release follows it, other than only a document."""
        return self not in DOCUMENTED

    @property
    def is_round_robin(self) -> bool:
        return self in _ROUND_ROBINS


_ABOUT = {
    Rule.RANGE_07: ("range", "0.7", "ZookeeperConsumerConnector 0.7: partitions sorted as text"),
    Rule.RANGE: ("range", "0.8 to 1.1, the default", "RangeAssignor: partitions sorted as numbers"),
    Rule.ROUND_ROBIN_ALIKE: (
        "round robin",
        "0.8.2 to 0.10.1",
        "RoundRobinAssignor: order by the hash of [topic,partition], the same threads for every topic",
    ),
    Rule.ROUND_ROBIN_BRACKETS: (
        "round robin",
        "0.10.2 and 0.11",
        "RoundRobinAssignor: order by the hash of [topic,partition]",
    ),
    Rule.ROUND_ROBIN_HYPHEN: (
        "round robin",
        "1.0 and 1.1",
        "RoundRobinAssignor: order by the hash of topic-partition",
    ),
    Rule.FLOOR: ("N rounded down", "no release", "documents 000 to 003: the remainder stays unowned"),
    Rule.CEIL: ("M rounded up", "no release", "document 004: the last threads may get nothing"),
}
DOCUMENTED = (Rule.FLOOR, Rule.CEIL)
_ROUND_ROBINS = (Rule.ROUND_ROBIN_ALIKE, Rule.ROUND_ROBIN_BRACKETS, Rule.ROUND_ROBIN_HYPHEN)
RULES_07 = (Rule.RANGE_07, *DOCUMENTED)
RULES_08 = (Rule.RANGE, *_ROUND_ROBINS, *DOCUMENTED)

# One topic's keys and threads to its owners; the keys are text in 0.7, else numbers.
_ByTopic = Callable[[Collection[Any], Collection[str]], Mapping[Any, str]]
_RUNS: Mapping[Rule, _ByTopic] = {
    Rule.RANGE_07: ranges.assign_range,
    Rule.RANGE: ranges.assign_range,
    Rule.FLOOR: ranges.assign_floor,
    Rule.CEIL: ranges.assign_ceil,
}


def plan(rule: Rule, demand: Demand) -> Plan:
    """What a group of consumers that all follow `rule` makes of the demand."""
    if rule in _RUNS:
        return _by_topic(_RUNS[rule], demand)
    if rule is Rule.ROUND_ROBIN_ALIKE:
        return round_robin.assign_alike(demand)
    form = round_robin.HYPHEN if rule is Rule.ROUND_ROBIN_HYPHEN else round_robin.BRACKETS
    return round_robin.assign(demand, form)


def _by_topic(assign: _ByTopic, demand: Demand) -> Plan:
    owners: dict[str, Mapping[str, str | None]] = {}
    for topic, threads in demand.threads.items():
        keys = demand.partitions.get(topic, ())
        if all(map(str.isdecimal, keys)):
            owners[topic] = {
                str(number): to for number, to in assign([int(key) for key in keys], threads).items()
            }
        else:
            owners[topic] = assign(keys, threads)
    return Plan(owners)
