"""Faults of znodes as such."""

from __future__ import annotations

from tests.cluster.checks import trees
from tests.cluster.checks.planting import of, text

EPHEMERAL_STATE = trees.state("t", 0, 1, [1, 2, 3])
PATH = "/brokers/topics/t/partitions/0/state"

CASES = [
    of(
        "D30",
        {""},
        {"/config/topics/torn": text("{"), PATH: text("{}")},
        trees.topic("new", {0: [1]}, a_field_of_tomorrow=[]),
    ),
    of("D49", {""}, trees.old_topic("old", {1: 2}), trees.topic("1", {0: [1, 2]})),
    of(
        "D50",
        {"/brokers/ids/2", "/consumers/readers/owners/fine/0", "/controller"},
        {
            path: node._replace(ephemeral=False)
            for path, node in trees.HEALTHY.items()
            if path in {"/brokers/ids/2", "/consumers/readers/owners/fine/0", "/controller"}
        },
        {
            path: node._replace(ephemeral=False)
            for path, node in trees.controller(3000, kraftControllerEpoch=2).items()
        },
    ),
    of(
        "D51",
        {PATH, "/consumers/readers/offsets/fine/1"},
        trees.topic("t", {0: [1, 2, 3]})
        | {PATH: EPHEMERAL_STATE[PATH]._replace(ephemeral=True)}
        | {"/consumers/readers/offsets/fine/1": text("5", ephemeral=True)},
        trees.topic("t", {0: [1, 2, 3]}),
    ),
    of(
        "D54",
        {"/config/topics/fine"},
        trees.config("topics/fine", some_key="x" * 600_000),
        trees.config("topics/fine", some_key="x" * 400_000),
    ),
]
