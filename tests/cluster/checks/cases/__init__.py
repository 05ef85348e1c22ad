"""The faults, by the families of the checks: each module has a list CASES."""

from __future__ import annotations

from tests.cluster.checks.cases import controller, groups, partitions, znodes

CASES = [*partitions.CASES, *controller.CASES, *groups.CASES, *znodes.CASES]
