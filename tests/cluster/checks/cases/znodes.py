"""Faults of znodes as such."""

from __future__ import annotations

from tests.cluster.checks import trees
from tests.cluster.checks.planting import of, text

CASES = [
    of(
        "D30",
        {""},
        {"/config/topics/torn": text("{"), "/brokers/topics/torn/partitions/0/state": text("{}")},
        trees.topic("new", {0: [1]}, a_field_of_tomorrow=[]),
    ),
]
