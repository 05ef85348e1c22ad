"""The faults, by the families of the checks: each module has a list CASES."""

from __future__ import annotations

from tests.cluster.checks.cases import controller, groups, partitions, topics, znodes

CASES = [*partitions.CASES, *topics.CASES, *controller.CASES, *groups.CASES, *znodes.CASES]
