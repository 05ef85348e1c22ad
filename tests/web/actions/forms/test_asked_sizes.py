"""What a reassignment copies, as the demo's brokers tell over their sockets when it is proposed."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.narrowing import sure
from tests.web.actions.forms.test_asked_offsets import simulation
from tests.web.markup import Markup
from zkdash import live
from zkdash.actions import documents
from zkdash.actions.models import Action
from zkdash.cluster.plans.values import Copied, Effect, Plan
from zkdash.demo.kafka39.simulation import Simulation
from zkdash.kafka.values import Assignment
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions import review

__all__ = ["simulation"]
pytestmark = pytest.mark.zk

FORM = "/c/demo/actions/new/reassign/"


def test_the_review_tells_the_bytes_that_each_broker_gets(operator: Client, simulation: Simulation) -> None:
    assignment = sure(Snapshot, live.current("demo")).state.topics["orders"].assignment
    replicas = sure(Assignment, assignment).partitions
    moves = {
        number: [replicas[number][0], next(broker for broker in (1, 2, 3) if broker not in replicas[number])]
        for number in (0, 1)
    }
    lines = "\n".join(f"orders-{number}: {kept}, {new}" for number, (kept, new) in moves.items())
    answer = operator.post(FORM, {"do": "propose", "way": "lists", "moves": lines})
    assert answer.status_code == 303, Markup(answer).texts("p.fault")
    plan = documents.plan(bytes(Action.objects.latest("id").plan))
    assert plan is not None
    sizes: dict[int, int] = {}
    for number, (_, new) in moves.items():
        log = simulation.logs
        size = 1_024 * (log.end("orders", number) - log.start("orders", number))
        sizes[new] = sizes.get(new, 0) + size
    assert plan.effect.copied == Copied(dict(sorted(sizes.items())))
    assert min(sizes.values()) > 0


def test_what_nobody_told_is_counted_with_its_reason() -> None:
    effect = Effect(copied=Copied({4: 3 << 20, 2: 1 << 20}, 2, "broker 3: no leader"))
    assert review.of(Plan("reassign", "orders", effect=effect)).numbers == (
        ("Copied", "4.0\xa0MB"),
        ("Copied to broker 4", "3.0\xa0MB"),
        ("Copied to broker 2", "1.0\xa0MB"),
        ("Of unknown size", "2 copies: broker 3: no leader"),
    )
    assert review.of(Plan("reassign", "orders")).numbers == ()
