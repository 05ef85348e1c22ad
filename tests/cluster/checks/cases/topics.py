"""Faults of topics."""

from __future__ import annotations

from tests.cluster.checks import trees
from tests.cluster.checks.planting import of

THREE = {0: [1, 2, 3]}
OFFSETS = "__consumer_offsets"
# Brokers 1 and 2 in rack a, broker 3 in rack b.
RACKS = trees.broker(1, rack="a") | trees.broker(2, rack="a") | trees.broker(3, rack="b")
# Broker 1 leads 32 partitions with those of the healthy cluster, where the mean is 12.
HEAVY = {number: [1, 2] for number in range(30)}
EVEN = {number: [[1, 2], [2, 3], [3, 1]][number % 3] for number in range(30)}

CASES = [
    of("D13", {"1"}, trees.topic("t", HEAVY), trees.topic("t", EVEN)),
    of(
        "D14",
        {"t"},
        RACKS | trees.topic("t", {0: [1, 2], 1: [1, 3]}),
        # three replicas cannot be spread over two racks
        RACKS | trees.topic("t", {0: [1, 2, 3], 1: [3, 1]}),
    ),
    of(
        "D15",
        {"one", "unequal"},
        trees.topic("one", {0: [1]}) | trees.topic("unequal", {0: [1, 2], 1: [1, 2, 3]}),
        # while it moves it may have more
        trees.topic("t", {0: [1, 2], 1: [2, 1, 3]}, adding_replicas={"1": [3]}, removing_replicas={"1": [1]}),
    ),
    of(
        "D16",
        {"twice", "gap", "none"},
        trees.topic("twice", {0: [1, 1]})
        | trees.topic("gap", {0: [1, 2], 2: [2, 1]})
        | trees.assignment("none", {0: []}),
        trees.topic("t", {0: [1, 2], 1: [2, 1], 2: [3, 1]}),
    ),
    of(
        "D55",
        {"a.b", "a_b", "no blanks"},
        trees.topic("a.b", THREE) | trees.topic("a_b", THREE) | trees.topic("no blanks", THREE),
        trees.topic("a.b", THREE) | trees.topic("a-b", THREE),
    ),
    of("D56", {"t"}, trees.topic("t", THREE), trees.topic("t", THREE, topic_id=trees.TOPIC_IDS[2])),
    of(
        "D57",
        {"t", "fine"},
        trees.topic("t", THREE, topic_id=trees.TOPIC_IDS[0]),
        trees.topic("t", THREE, topic_id=trees.TOPIC_IDS[2]),
    ),
    of(
        "D58",
        {OFFSETS},
        trees.state(OFFSETS, 1, 2, [2]),
        trees.topic("t", THREE) | trees.state("t", 0, 2, [2]),
    ),
]
