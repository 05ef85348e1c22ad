"""Faults of topics and their partitions."""

from __future__ import annotations

from tests.cluster.checks import trees
from tests.cluster.checks.planting import Planted, document, of

THREE = {0: [1, 2, 3]}
MOVE = {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [2, 3]}]}
MARKED = {"/admin/delete_topics/t": Planted()}

TWO = {0: [1, 2], 1: [2, 1]}
MANY = {number: [1, 2] for number in range(10)}

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
        "D4",
        {"t"},
        trees.topic("t", THREE) | trees.state("t", 1, 1, [1]),
        trees.topic("t", {**THREE, 1: [1, 2, 3]}),
    ),
    of(
        "D5",
        {"t"},
        trees.topic("t", THREE) | trees.state("t", 0, 1, [2, 3]),
        trees.topic("t", THREE) | trees.state("t", 0, -1, [2, 3]),
    ),
    of(
        "D6",
        {"t"},
        trees.topic("t", TWO) | trees.state("t", 0, 3, [1, 2, 3]),
        trees.topic("t", TWO) | trees.state("t", 0, 2, [1, 2]),
    ),
    of(
        "D7",
        {"t"},
        trees.topic("t", TWO) | trees.state("t", 0, 1, [1, 2, 3]),
        # while it moves, those who leave stay in sync for a while
        trees.topic("t", TWO)
        | trees.state("t", 0, 1, [1, 2, 3])
        | {"/admin/reassign_partitions": document(MOVE)},
    ),
    of(
        "D8",
        {""},
        trees.topic("t", THREE) | trees.state("t", 0, 1, [1, 2]),
        # while it moves, the replicas it had count
        trees.assignment("t", {0: [1, 2, 3]}, adding_replicas={"0": [3]}) | trees.state("t", 0, 1, [1, 2]),
    ),
    of(
        "D9",
        {"under", "at"},
        trees.topic("under", THREE)
        | trees.state("under", 0, 1, [1])
        | trees.config("topics/under", min_insync_replicas="2")
        | trees.topic("at", THREE)
        | trees.state("at", 0, 1, [1, 2])
        | trees.config("topics/at", min_insync_replicas="2"),
        trees.topic("all", TWO)
        | trees.config("topics/all", min_insync_replicas="2")
        | trees.topic("spare", THREE)
        | trees.state("spare", 0, 1, [1, 2]),
    ),
    # what brokers were told as their default counts for a topic that says nothing of its own
    of(
        "D9",
        {"under", "at"},
        trees.config("brokers/<default>", min_insync_replicas="2")
        | trees.topic("under", THREE)
        | trees.state("under", 0, 1, [1])
        | trees.topic("at", THREE)
        | trees.state("at", 0, 1, [1, 2])
        | trees.config("topics/at", retention_ms="1000"),
        trees.config("brokers/<default>", min_insync_replicas="2")
        | trees.topic("own", THREE)
        | trees.state("own", 0, 1, [1, 2])
        | trees.config("topics/own", min_insync_replicas="1"),
    ),
    of(
        "D10",
        {"t"},
        trees.topic("t", {0: [1, 9]}),
        trees.topic("t", {0: [9]}) | trees.state("t", 0, -1, [9]),
    ),
    of(
        "D11",
        {"9"},
        trees.topic("t", {0: [1, 9]}) | trees.state("t", 0, 1, [1]),
        trees.topic("t", {0: [1, 3]}) | trees.state("t", 0, 1, [1]),
    ),
    of(
        "D12",
        {"1"},
        trees.topic("t", MANY) | trees.state("t", 0, 2, [1, 2]) | trees.state("t", 1, 2, [1, 2]),
        # one of its twelve is less than a tenth
        trees.topic("t", MANY) | trees.state("t", 0, 2, [1, 2]),
    ),
    # of what moves, nobody can say which replica stands first: the lists are of before and after at once
    of(
        "D12",
        {"1"},
        trees.topic("t", MANY)
        | trees.state("t", 0, 2, [1, 2])
        | trees.state("t", 1, 2, [1, 2])
        | {"/admin/reassign_partitions": document(MOVE)}
        | trees.state("t", 2, 2, [1, 2]),
        trees.assignment("t", {**MANY, 1: [3, 1, 2]}, adding_replicas={"1": [3]})
        | {path: node for path, node in trees.topic("t", MANY).items() if path != "/brokers/topics/t"}
        | trees.state("t", 0, 2, [1, 2])
        | trees.state("t", 1, 1, [1, 2])
        | trees.state("t", 2, 2, [1, 2])
        | {"/admin/reassign_partitions": document(MOVE)},
    ),
    of(
        "D17",
        {"t"},
        trees.topic("t", THREE) | trees.state("t", 0, 1, [1, 2, 3], controller_epoch=6),
        trees.topic("t", THREE) | trees.state("t", 0, 1, [1, 2, 3], controller_epoch=1),
    ),
    of(
        "D59",
        {"t"},
        trees.topic("t", THREE) | trees.state("t", 0, 1, [1, 2, 3], leader_recovery_state=1),
        trees.topic("t", THREE) | trees.state("t", 0, 1, [1, 2, 3], leader_recovery_state=0),
    ),
]
