"""What a cluster understands, from the registrations of its brokers and the topics that they wrote."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.cluster.plans import worlds
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import intents, planner
from zkdash.cluster.plans.era import Era, era
from zkdash.cluster.plans.values import Ground
from zkdash.kafka.notifications import Form


def told(*versions: int, topics: Sequence[int] = ()) -> Era:
    tree = worlds.Tree()
    for number, version in enumerate(versions, 1):
        worlds.register(tree, number, version)
    for version in topics:
        worlds.topic(tree, f"t{version}", {0: [1]}, version)
    return era(tree.state())


@pytest.mark.parametrize(
    ("versions", "topics", "entities"),
    [
        ((1, 1), Form.NAME, None),
        ((2, 2), Form.TYPE, None),
        ((2, 4), Form.TYPE, None),
        ((3, 5), Form.TYPE, None),
        ((4, 4), Form.TYPE, Form.PATH),
        ((4, 5), Form.TYPE, Form.PATH),
        ((5, 5), Form.TYPE, Form.PATH),
        ((1, 2), None, None),
        ((1, 5), None, None),
        ((), None, None),
    ],
)
def test_a_notification_has_the_form_that_every_broker_understands(
    versions: tuple[int, ...], topics: Form | None, entities: Form | None
) -> None:
    found = told(*versions)
    assert (found.topics, found.entities) == (topics, entities)
    assert bool(found.unclear) is (topics is None)


@pytest.mark.parametrize(
    ("versions", "written", "new"),
    [
        ((1,), (), 1),
        ((4,), (1,), 1),
        ((4,), (1, 2), 2),
        ((5,), (1, 3), 3),
        ((5,), (), 2),
        ((4,), (), 1),
    ],
)
def test_a_new_topic_is_written_as_the_brokers_write_theirs(
    versions: tuple[int, ...], written: tuple[int, ...], new: int
) -> None:
    assert told(*versions, topics=written).topic_version == new


def test_an_unparsable_registration_leaves_the_release_open() -> None:
    tree = worlds.world("1.1.1")
    tree.put("/brokers/ids/2", b"{")
    assert "cannot be read" in era(tree.state()).unclear
    plan = tree.plan(intents.ChangeConfig("t", {"retention.ms": "2"}))
    assert plan.refusals[0].startswith("No notification is understood by all brokers")


def test_an_unparsable_controller_is_not_trusted_to_act() -> None:
    tree = worlds.world("3.9.1")
    tree.put("/controller", b'{"version":9}', owner=worlds.SESSION)
    assert tree.plan(intents.DeleteTopic("t")).refusals == (
        "/controller cannot be understood, so that nobody knows who would act.",
    )


def test_a_cluster_that_was_not_read_refuses_everything() -> None:
    plan = planner.plan(intents.DeleteGroup("g"), Ground(ClusterState()))
    assert plan.refusals[0] == "The cluster has not been read yet."


def test_layouts_that_are_mixed_refuse_what_a_controller_would_do() -> None:
    tree = worlds.world("1.1.1")
    tree.put("/brokers/topics/old/1", b"2")
    assert "by mistake" in tree.plan(intents.DeleteTopic("t")).refusals[0]


def test_kafka_0_8_0_has_neither_deletion_nor_notification() -> None:
    tree = worlds.world("0.8.2.2")
    for path in ("/admin/delete_topics", "/config/changes"):
        del tree.znodes[path]
    assert "0.8.0" in tree.plan(intents.DeleteTopic("t")).refusals[0]
    assert "0.8.0" in tree.plan(intents.ChangeConfig("t", {"retention.ms": "2"})).refusals[0]


def test_what_is_gone_since_the_state_was_read_is_refused_in_words() -> None:
    state = worlds.world("1.1.1").state()
    plan = planner.plan(intents.DeleteGroup("g"), Ground(state))
    assert plan.refusals == ("Nothing is left to be written: what was to change is gone.",)
