"""Faults of the controller, and of what only it does."""

from __future__ import annotations

from tests.cluster.checks import trees
from tests.cluster.checks.planting import Planted, document, of, text
from zkdash.cluster.checks import Thresholds
from zkdash.kafka import paths

THREE = {0: [1, 2, 3]}
MARKED = {"/admin/delete_topics/t": Planted()}


def moves(*entries: tuple[str, int, list[int]]) -> dict[str, Planted]:
    listed = [{"topic": topic, "partition": number, "replicas": to} for topic, number, to in entries]
    return {paths.REASSIGNMENT: document({"version": 1, "partitions": listed})}


CASES = [
    of("D18", {paths.CONTROLLER}, {}, {}, gone=(paths.CONTROLLER,)),
    of(
        "D19",
        {paths.CONTROLLER},
        trees.controller(9),
        # a KRaft controller is no broker
        trees.controller(3000, kraftControllerEpoch=7),
    ),
    of(
        "D21",
        {paths.CONTROLLER, paths.MIGRATION},
        trees.controller(3000, kraftControllerEpoch=7)
        | {
            paths.MIGRATION: document(
                {
                    "version": 0,
                    "kraft_controller_id": 3000,
                    "kraft_controller_epoch": 7,
                    "kraft_metadata_offset": 100,
                    "kraft_metadata_epoch": 3,
                }
            )
        },
        trees.controller(2, kraftControllerEpoch=-1),
    ),
    of("D22", {"t"}, trees.topic("t", {0: [1, 9]}) | MARKED, trees.topic("t", {0: [1, 9]})),
    of("D23", {"/admin/delete_topics/t"}, MARKED, trees.topic("t", THREE) | MARKED),
    of(
        "D24",
        {paths.REASSIGNMENT},
        trees.topic("t", THREE) | moves(("t", 0, [1, 2])),
        trees.topic("t", {0: [1, 2]}, adding_replicas={"0": [2]}),
    ),
    # what no controller can act on will never go on: nobody waits for that
    of(
        "D24",
        {paths.REASSIGNMENT},
        moves(),
        {},
        after=Thresholds().confirm,
    ),
    of(
        "D24",
        {paths.REASSIGNMENT},
        {paths.REASSIGNMENT: text("{nope")},
        trees.topic("t", {0: [1, 2]}, adding_replicas={"0": [2]}),
        after=Thresholds().confirm,
    ),
    of(
        "D25",
        {"t", "absent"},
        trees.topic("t", THREE) | moves(("t", 0, [1, 9]), ("absent", 0, [1])),
        trees.topic("t", THREE) | moves(("t", 0, [3, 2])),
    ),
    of(
        "D26",
        {"t"},
        trees.topic("t", THREE) | moves(("t", 0, [1, 2, 3])),
        trees.topic("t", THREE) | trees.state("t", 0, 1, [1, 2]) | moves(("t", 0, [1, 2, 3])),
    ),
    of(
        "D27",
        {paths.ELECTION},
        {paths.ELECTION: document({"version": 1, "partitions": [{"topic": "fine", "partition": 0}]})},
        {},
    ),
    of(
        "D28",
        {"/config/topics/t", "/config/brokers/2"},
        trees.topic("t", THREE)
        | trees.config("topics/t", leader_replication_throttled_replicas="0:1")
        | trees.config("brokers/2", leader_replication_throttled_rate="1000"),
        # a throttle belongs to a move
        trees.topic("t", {0: [1, 2, 3]}, adding_replicas={"0": [3]})
        | trees.config("topics/t", leader_replication_throttled_replicas="0:1")
        | trees.config("brokers/2", leader_replication_throttled_rate="1000"),
    ),
]
# What is young is no fault yet, whatever it is.
YOUNG = {
    "D22": trees.topic("t", {0: [1, 9]}) | MARKED,
    "D24": trees.topic("t", THREE) | moves(("t", 0, [1, 2])),
    "D27": {paths.ELECTION: text('{"version":1,"partitions":[]}')},
}
