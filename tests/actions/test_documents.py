"""Intents, plans and names in the database: whatever is in them comes back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import full
from tests.actions.small import ANN, now
from tests.databases import Database
from zkdash.actions import documents
from zkdash.actions.documents import DocumentError
from zkdash.actions.queue import queue
from zkdash.cluster.plans import intents
from zkdash.cluster.plans.goals import Assigned, Consumed
from zkdash.cluster.plans.intents import CreateTopic, DeleteTopic, Reassign
from zkdash.cluster.plans.values import Edit, Plan, Step, Write
from zkdash.kafka.values import Move
from zkdash.znode import Operation

# What PostgreSQL's text refuses, what UTF-8 refuses, and what is merely unusual.
HOSTILE = "a\0b\ud800\udcff\u202e\U0001f600\ufeff"
MEBIBYTE = 1 << 20

PLAN = Plan(
    "delete-topic",
    HOSTILE,
    (
        Step(
            f"Do {HOSTILE}",
            (
                Write(f"/x/{HOSTILE}", Operation.SET, 3, None, b"\0\xff", undo=HOSTILE),
                Write("/y", Operation.SET, 4, b"", b"<hidden>", edit=Edit({HOSTILE: HOSTILE}, (HOSTILE,))),
            ),
            Assigned((Move(HOSTILE, 0, (1, 2)),)),
        ),
        Step("Wait", (), Consumed("/admin/reassign_partitions")),
    ),
    warnings=(HOSTILE,),
    inverse=CreateTopic(HOSTILE, config={HOSTILE: HOSTILE}, assignment={0: (1, 2), 10: ()}),
    confirm=HOSTILE,
)


def test_hostile_names_come_back_from_both_databases(database: Database) -> None:
    intent = DeleteTopic(HOSTILE)
    action = now(queue.propose("c", intent, PLAN, ANN, reason=f"because {HOSTILE}"))
    assert documents.intent(action.intent) == intent
    assert documents.plan(action.plan) == PLAN
    assert documents.unpack(action.target) == HOSTILE
    assert action.reason.startswith("because a\ufffdb\ufffd\ufffd\u202e\U0001f600")
    assert [step.title for step in action.steps.all()] == [
        "Do a\ufffdb\ufffd\ufffd\u202e\U0001f600\ufeff",
        "Wait",
    ]


def test_a_plan_of_a_megabyte_comes_back_from_both_databases(database: Database) -> None:
    data = bytes(range(256)) * (MEBIBYTE // 256)
    plan = Plan(
        "delete-topic", "a", (Step("Set", (Write("/x", Operation.SET, 1, data, data),), Consumed("/x")),)
    )
    action = now(queue.propose("c", DeleteTopic("a"), plan, ANN))
    assert len(action.plan) > 2 * MEBIBYTE
    assert documents.plan(action.plan) == plan


# As databases hold them since the first release of each kind: never to be changed.
STORED: dict[str, intents.Intent] = {
    '{"kind":"elect-preferred","topics":["t"],"partitions":[["u",1]]}': intents.ElectPreferred(
        ("t",), (("u", 1),)
    ),
    '{"kind":"reassign","moves":[{"topic":"t","partition":0,"replicas":[1,2]}],"concurrent":3,"throttle":5,'
    '"supersede":true}': Reassign((Move("t", 0, (1, 2)),), 3, 5, supersede=True),
    '{"kind":"create-topic","topic":"t","partitions":2,"replication":null,"config":{"a":"b"},'
    '"assignment":{"0":[1]},"start":1,"shift":0}': CreateTopic("t", 2, None, {"a": "b"}, {0: (1,)}, 1, 0),
    '{"kind":"add-partitions","topic":"t","total":3,"assignment":{"2":[1]}}': intents.AddPartitions(
        "t", 3, {2: (1,)}
    ),
    '{"kind":"change-config","topic":"t","put":{"a":"b"},"drop":["c"]}': intents.ChangeConfig(
        "t", {"a": "b"}, ("c",)
    ),
    '{"kind":"delete-topic","topic":"t"}': DeleteTopic("t"),
    '{"kind":"delete-group","group":"g","topic":null}': intents.DeleteGroup("g"),
    '{"kind":"reset-offsets","group":"g","offsets":[{"topic":"t","part":"1-0","value":null}]}': (
        intents.ResetOffsets("g", (intents.OffsetAt("t", "1-0", None),))
    ),
    '{"kind":"reelect-controller"}': intents.ReelectController(),
    '{"kind":"clear-throttles"}': intents.ClearThrottles(),
    '{"kind":"clear-configs","topics":["t"]}': intents.ClearConfigs(("t",)),
    '{"kind":"clear-stuck","path":"/admin/x"}': intents.ClearStuck("/admin/x"),
    '{"kind":"revert-stuck","originals":[{"topic":"t","partition":0,"replicas":[1]}]}': intents.RevertStuck(
        (Move("t", 0, (1,)),)
    ),
    '{"kind":"clean-up-topic","topic":"t","folders_removed":true}': intents.CleanUpTopic(
        "t", folders_removed=True
    ),
}


@pytest.mark.parametrize(("stored", "intent"), STORED.items())
def test_what_a_database_holds_is_read_and_written_as_ever(stored: str, intent: intents.Intent) -> None:
    assert documents.intent(stored) == intent
    assert documents.encode(intent).decode() == stored


@given(st.text(st.characters(categories=None)))  # surrogates too
def test_any_name_comes_back(name: str) -> None:
    assert documents.unpack(documents.pack(name)) == name
    assert documents.intent(documents.encode(DeleteTopic(name))) == DeleteTopic(name)


@given(st.text(st.characters(categories=None)), st.none() | st.integers(1, 20))
def test_text_is_what_every_database_takes(value: str, most: int | None) -> None:
    clean = documents.text(value, most)
    assert "\0" not in clean.encode("utf-8").decode()
    assert most is None or len(clean) <= most


def test_no_bytes_are_no_plan() -> None:
    assert documents.plan(b"") is None
    assert documents.detail(b"") is None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("nope", "Expecting value"),
        ("[]", "Expected `object`, got `array`"),
        ("{}", "missing required field `kind`"),
        ('{"kind": "zap"}', "Invalid value 'zap'"),
        ('{"kind": "delete-topic", "topic": "a", "topic": "b"}', '"topic" is given twice'),
        ('{"kind": "delete-topic", "topic": "a", "topics": "b"}', '"topics" is no field of it'),
        (
            '{"kind": "reassign", "moves": [{"topic": "a", "partition": 0, "replicas": [1], "to": 2}]}',
            '"to" is no field',
        ),
        ('{"kind": "add-partitions", "topic": "a", "total": NaN}', "Expected `int`, got `float`"),
        ('{"kind": "add-partitions", "topic": "a", "total": %s}' % ("9" * 5_000), "4300 digits"),
        ("[" * 100_000, "nested too deeply"),
        (b"\xff", "can't decode byte 0xff"),
    ],
    ids=str,
)
def test_what_is_no_intent_is_told_in_one_sentence(given: str | bytes, told: str) -> None:
    with pytest.raises(DocumentError) as refused:
        documents.intent(given)
    assert told in str(refused.value)
    assert str(refused.value).startswith("This ")


def test_a_persons_json_becomes_an_intent() -> None:
    text = json.dumps({"kind": "reassign", "moves": [{"topic": "a", "partition": 0, "replicas": [1, 2]}]})
    assert documents.intent(text) == Reassign((Move("a", 0, (1, 2)),))


def test_a_text_of_json_may_escape_what_it_likes() -> None:
    assert documents.intent(rb'{"kind": "delete-topic", "topic": "\ud83d\ude00\u0000"}') == DeleteTopic(
        "\U0001f600\0"
    )


def test_threads_that_read_the_first_plan_at_once_do_not_crash(tmp_path: Path) -> None:
    """Each process reads it for the first time; a quarter of them crashed when msgspec learned types so."""
    (tmp_path / "plan").write_bytes(documents.encode(PLAN))
    program = f"""
import pathlib, sys, threading
from zkdash.actions import documents
data = pathlib.Path({str(tmp_path / "plan")!r}).read_bytes()
sys.setswitchinterval(1e-7)
at_once = threading.Barrier(8)
def read():
    at_once.wait()
    for _ in range(20):
        documents.plan(data)
threads = [threading.Thread(target=read) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
    for _ in range(full.pick(5, 50)):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
