"""The faults, by the families of the checks: each module has a list CASES."""

from __future__ import annotations

from tests.cluster.checks.cases import (
    admin,
    brokers,
    controller,
    groups,
    partitions,
    security,
    topics,
    znodes,
)

CASES = [
    *partitions.CASES,
    *topics.CASES,
    *controller.CASES,
    *brokers.CASES,
    *admin.CASES,
    *groups.CASES,
    *znodes.CASES,
    *security.CASES,
]
