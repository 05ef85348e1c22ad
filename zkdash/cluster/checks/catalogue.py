"""The checks, by the ids that documentation and links use for good."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.cluster.checks.check import Check
from zkdash.cluster.checks.families import (
    admin,
    brokers,
    controller,
    group_offsets,
    groups,
    partitions,
    requests,
    security,
    topics,
    znodes,
)
from zkdash.cluster.evaluation.evaluator import Evaluations

_FAMILIES = (
    partitions,
    topics,
    controller,
    requests,
    brokers,
    admin,
    groups,
    group_offsets,
    znodes,
    security,
)

CHECKS: tuple[Check, ...] = tuple(
    sorted((check for family in _FAMILIES for check in family.CHECKS), key=lambda check: int(check.id[1:]))
)
BY_ID: Mapping[str, Check] = {check.id: check for check in CHECKS}
# What a cluster's state keeps of topics and groups as they change.
EVALUATIONS = Evaluations(
    {check.id: check.of_topic for check in CHECKS if check.of_topic is not None},
    {check.id: check.of_group for check in CHECKS if check.of_group is not None},
)
# By id, the sentence of a pass.
TITLES: Mapping[str, str] = {check.id: check.passing for check in CHECKS}
