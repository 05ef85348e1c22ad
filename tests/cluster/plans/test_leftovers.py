"""Clearing what controllers get stuck on: what has to be said about it beforehand."""

from __future__ import annotations

import pytest

from tests.cluster.plans import worlds
from tests.cluster.plans.cells import ELECT
from zkdash.cluster.plans import intents

UNKNOWN = {"version": 1, "partitions": [{"topic": "x", "partition": 0}]}


@pytest.mark.parametrize("era", ["0.8.2.2", "0.10.2.2", "1.1.1"])
def test_an_old_controller_that_remembers_an_election_of_an_unknown_topic_must_be_restarted(era):
    tree = worlds.world(era)
    tree.put(ELECT, UNKNOWN)
    (warning,) = tree.plan(intents.ClearStuck(ELECT)).warnings
    assert warning.startswith("Before Kafka 1.0, broker 1 (the controller) remembers the request")


@pytest.mark.parametrize(("era", "data"), [("3.9.1", UNKNOWN), ("0.10.2.2", b"{")])
def test_nothing_is_remembered_by_newer_controllers_or_of_what_is_no_json(era, data):
    tree = worlds.world(era)
    tree.put(ELECT, data)
    assert tree.plan(intents.ClearStuck(ELECT)).warnings == ()
