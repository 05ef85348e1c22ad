"""Faults of the controller."""

from __future__ import annotations

from tests.cluster.checks.planting import of

CASES = [
    of("D18", {"/controller"}, {}, {}, gone=("/controller",)),
]
