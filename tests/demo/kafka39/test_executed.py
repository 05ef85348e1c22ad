"""The product's own executor works on the demo's simulated cluster, as an operator of the demo sees it."""

from __future__ import annotations

import pytest

from tests.actions.carrying import now, queued, told, working
from tests.conftest import Chroot
from tests.demo.kafka39.living import SMALL, Cluster
from tests.waiting import wait_for
from zkdash.actions.models import Action
from zkdash.actions.states import ENDED, State
from zkdash.cluster.plans import intents
from zkdash.cluster.plans.intents import OffsetAt, Reassign
from zkdash.kafka.values import Move

pytestmark = [
    pytest.mark.zk,
    pytest.mark.parametrize("database", ["sqlite"], indirect=True),
    pytest.mark.usefixtures("database"),
]


def ended(cluster: Cluster, action: Action) -> Action:
    """The action once it has ended; the cluster lives on meanwhile."""

    def is_over() -> bool:
        cluster.clock.advance(1.0)
        return now(action).state in ENDED | {State.UNKNOWN}

    wait_for(is_over, 60, lambda: told(action))
    return now(action)


def test_moves_in_throttled_batches_topics_and_groups_are_carried_out(chroot: Chroot) -> None:
    cluster = Cluster(chroot, SMALL)
    cluster.simulation.start()
    try:
        lists = cluster.json("/brokers/topics/clicks")["partitions"]
        moves = tuple(
            Move("clicks", int(number), tuple(b for b in (1, 2, 3, 4) if b not in ids))
            for number, ids in lists.items()
        )
        wanted = (
            Reassign(moves, concurrent=2, throttle=100_000_000),
            intents.CreateTopic("made", 2, 2),
            intents.AddPartitions("made", 4),
            intents.DeleteTopic("made"),
            intents.ResetOffsets("gone", (OffsetAt("clicks", "0", 5),)),
            intents.DeleteGroup("gone"),
            intents.ReelectController(),
        )
        with working(chroot):
            for intent in wanted:
                action = ended(cluster, queued(chroot, intent))
                assert action.state == State.DONE, told(action)
        after = cluster.json("/brokers/topics/clicks")["partitions"]
        assert {int(number): tuple(ids) for number, ids in after.items()} == {
            move.partition: move.replicas for move in moves
        }
        assert not cluster.exists("/brokers/topics/made")
        assert not cluster.exists("/consumers/gone")
    finally:
        cluster.simulation.stop()
    assert cluster.simulation.failures == []
