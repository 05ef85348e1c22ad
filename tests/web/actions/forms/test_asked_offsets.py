"""Offsets that brokers tell over their sockets: the form asks them, and proposes what they said."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec
import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.conftest import Chroot
from tests.web import states
from tests.web.markup import Markup
from zkdash import live
from zkdash.actions import documents
from zkdash.actions.models import Action
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans.intents import ResetOffsets
from zkdash.cluster.reducer import advance
from zkdash.demo.clock import SteppedClock
from zkdash.demo.simulation import Simulation
from zkdash.demo.specs import BrokerSpec, Catalogue, TopicSpec
from zkdash.kafka import paths
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.zk.reader import one_shot

pytestmark = pytest.mark.zk

FORM = "/c/demo/actions/new/reset-offsets/"
SMALL = Catalogue(
    brokers=tuple(BrokerSpec(n, f"kafka-{n}.test", 9092, f"rack-{n}") for n in (1, 2, 3)),
    topics=(TopicSpec("orders", 3, 2, per_s=600),),
    groups=(),
)


@pytest.fixture
def simulation(chroot: Chroot, settings: Settings) -> Iterator[Simulation]:
    """Brokers that listen, a minute old, as the cluster "demo"; their clock stands still."""
    clock = SteppedClock()
    made = Simulation(chroot.address, seed=3, contents=SMALL, time=clock, listen=True)
    made.start()
    for _ in range(60):
        clock.advance(1.0)
        made.steps.call(lambda: None)
    config = ClusterConfig("demo", *parse_address(chroot.address))
    settings.ZKDASH_CLUSTERS = (config,)
    state, _ = advance.advance(ClusterState(), one_shot.load(config, paths.ROOTS))
    live.publish("demo", msgspec.structs.replace(states.snapshot(), state=state, as_of=1.0, stale=False))
    yield made
    made.stop()


def proposed(operator: Client, **typed: str) -> dict[int, int | None]:
    """The offsets of the proposal that the form makes, by partition."""
    data = {"do": "propose", "groups": "new", "topics": "orders", **typed}
    answer = operator.post(FORM, data)
    assert answer.status_code == 303, Markup(answer).texts("p.fault")
    intent = documents.intent(bytes(Action.objects.latest("id").intent))
    assert isinstance(intent, ResetOffsets)
    return {int(one.part): one.value for one in intent.offsets}


def test_the_ends_of_the_logs_are_what_the_brokers_say(operator: Client, simulation: Simulation) -> None:
    ends = {number: simulation.logs.end("orders", number) for number in range(3)}
    assert all(ends.values())
    assert proposed(operator, way="latest") == ends
    earliest = proposed(operator, way="earliest")
    assert all(value is not None and value < ends[number] for number, value in earliest.items())


def test_a_time_lies_between_both_ends(operator: Client, simulation: Simulation) -> None:
    ends = proposed(operator, way="latest")
    future = proposed(operator, way="time", moment="2099-01-01 00:00")
    assert future == ends
    told = documents.plan(bytes(Action.objects.latest("id").plan))
    assert told is not None
    assert "Of 3 partitions the nearest end is taken" in " ".join(told.warnings)
    past = proposed(operator, way="time", moment=datetime.fromtimestamp(0, UTC).strftime("%Y-%m-%d %H:%M"))
    assert past == proposed(operator, way="earliest")


def test_a_broker_that_is_gone_leaves_no_offset_to_be_guessed(
    operator: Client, simulation: Simulation
) -> None:
    simulation.stop()
    answer = operator.post(FORM, {"do": "propose", "groups": "new", "topics": "orders", "way": "latest"})
    assert answer.status_code == 422
    assert "orders-0: cannot ask broker" in Markup(answer).texts("p.fault")[-1]
    assert not Action.objects.exists()
