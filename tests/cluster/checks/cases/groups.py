"""Faults of groups of ZooKeeper consumers."""

from __future__ import annotations

from tests.cluster.checks import trees
from tests.cluster.checks.planting import of

CASES = [
    of(
        "D40",
        {"late"},
        trees.member("late", "00000001", {"fine": 1}) | trees.owner("late", "fine", "0", "00000001"),
        # what nobody subscribes to by name may be without an owner
        trees.offset("late", "fine", "0", "1")
        | trees.member("late", "00000001", {".*": 1}, pattern="white_list"),
    ),
    of(
        "D47",
        {"broken"},
        trees.offset("broken", "fine", "0", "-5") | trees.offset("broken", "fine", "1", "five"),
        trees.offset("broken", "fine", "0", "0"),
    ),
]
