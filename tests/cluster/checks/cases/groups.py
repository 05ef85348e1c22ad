"""Faults of groups of ZooKeeper consumers."""

from __future__ import annotations

from tests.cluster.checks import trees
from tests.cluster.checks.planting import Planted, of, text

WEEK_S = 604_800.0

CASES = [
    of(
        "D39",
        {"foreign"},
        trees.offset("foreign", "fine", "0", "1") | trees.owner("foreign", "fine", "0", "00000009"),
        trees.member("own", "00000009", {"fine": 3}) | trees.owner("own", "fine", "0", "00000009"),
    ),
    of(
        "D40",
        {"late"},
        trees.member("late", "00000001", {"fine": 1}) | trees.owner("late", "fine", "0", "00000001"),
        # what nobody subscribes to by name may be without an owner
        trees.offset("late", "fine", "0", "1")
        | trees.member("late", "00000001", {".*": 1}, pattern="white_list"),
    ),
    of(
        "D41",
        {"crossed"},
        # two members of one thread each: range gives the first one two partitions
        trees.member("crossed", "00000001", {"fine": 1})
        | trees.member("crossed", "00000002", {"fine": 1})
        | trees.owner("crossed", "fine", "0", "00000002")
        | trees.owner("crossed", "fine", "1", "00000001")
        | trees.owner("crossed", "fine", "2", "00000002"),
        trees.member("even", "00000001", {"fine": 1})
        | trees.member("even", "00000002", {"fine": 1})
        | trees.owner("even", "fine", "0", "00000001")
        | trees.owner("even", "fine", "1", "00000001")
        | trees.owner("even", "fine", "2", "00000002"),
    ),
    of(
        "D42",
        {"wide"},
        trees.member("wide", "00000001", {"fine": 4})
        | trees.owner("wide", "fine", "0", "00000001", 0)
        | trees.owner("wide", "fine", "1", "00000001", 1)
        | trees.owner("wide", "fine", "2", "00000001", 2),
        {},
    ),
    of(
        "D43",
        {"left"},
        trees.offset("left", "fine", "7", "1") | trees.offset("left", "gone", "0", "1"),
        trees.offset("left", "fine", "2", "1"),
    ),
    of(
        "D44",
        {"asleep"},
        trees.offset("asleep", "fine", "0", "1"),
        trees.offset("awake", "fine", "0", "1") | trees.member("awake", "00000001", {"fine": 1}),
        after=WEEK_S + 60,
    ),
    of(
        "D45",
        {"empty"},
        {"/consumers/empty/ids": Planted(), "/consumers/empty/offsets": Planted()},
        trees.offset("kept", "fine", "0", "1"),
    ),
    of(
        "D46",
        {"torn", "idle"},
        {"/consumers/torn/ids/torn_host-1795260000000-00000001": text("{", ephemeral=True)}
        | trees.member("idle", "00000001", {"fine": 0}),
        trees.member("whole", "00000001", {"fine": 1}),
    ),
    of(
        "D47",
        {"broken"},
        trees.offset("broken", "fine", "0", "-5") | trees.offset("broken", "fine", "1", "five"),
        trees.offset("broken", "fine", "0", "0"),
    ),
]
