"""Faults of topics and their partitions."""

from __future__ import annotations

from tests.cluster.checks import trees
from tests.cluster.checks.planting import Planted, of

THREE = {0: [1, 2, 3]}
MARKED = {"/admin/delete_topics/t": Planted()}

CASES = [
    of(
        "D1",
        {""},
        trees.topic("t", THREE) | trees.state("t", 0, -1, [2]),
        trees.topic("t", THREE) | trees.state("t", 0, -1, [2]) | MARKED,
    ),
    of(
        "D2",
        {""},
        trees.topic("t", THREE) | trees.state("t", 0, 9, [9]),
        trees.topic("t", THREE) | trees.state("t", 0, 3, [3]),
    ),
    of(
        "D3",
        {"t"},
        trees.assignment("t", {0: [1], 1: [2]}) | trees.state("t", 0, 1, [1]),
        trees.topic("t", THREE),
    ),
    of(
        "D8",
        {""},
        trees.topic("t", THREE) | trees.state("t", 0, 1, [1, 2]),
        # while it moves, the replicas it had count
        trees.assignment("t", {0: [1, 2, 3]}, adding_replicas={"0": [3]}) | trees.state("t", 0, 1, [1, 2]),
    ),
    of(
        "D17",
        {"t"},
        trees.topic("t", THREE) | trees.state("t", 0, 1, [1, 2, 3], controller_epoch=6),
        trees.topic("t", THREE) | trees.state("t", 0, 1, [1, 2, 3], controller_epoch=1),
    ),
]
