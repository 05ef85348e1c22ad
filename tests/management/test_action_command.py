"""`manage.py action`: plan, queue and ask from a shell, on a real ZooKeeper and on both databases."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django.fixtures import Settings

from tests.actions.small import NOW, operator, proposed
from tests.cluster.plans import worlds
from tests.cluster.plans.test_real_multi import copied
from tests.conftest import Chroot
from tests.databases import Database
from tests.zk import everything
from tests.zk.reader.test_one_shot import config_of
from zkdash.access.models import Grant
from zkdash.actions.execution import leasing
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import queue
from zkdash.actions.queue.queue import Actor
from zkdash.actions.states import State

ROOT = Path(__file__).resolve().parents[2]
DELETE = '{"kind": "delete-topic", "topic": "t"}'
CLUSTER = ("--cluster", "test")


class Shell:
    """Runs `action` and gives what it printed, as JSON; `refused` gives the sentence of a refusal."""

    def __call__(self, *arguments: str) -> Any:
        out = io.StringIO()
        call_command("action", *arguments, stdout=out)
        return json.loads(out.getvalue())

    def refused(self, *arguments: str) -> str:
        with pytest.raises(CommandError) as told:
            self(*arguments)
        assert told.value.returncode == 1
        return str(told.value)


@pytest.fixture
def shell(database: Database) -> Shell:
    return Shell()


@pytest.fixture
def cluster(chroot: Chroot, settings: Settings) -> Chroot:
    """The tests' tree of 1.1.1 on ZooKeeper, configured as "test"."""
    copied(chroot.client, worlds.world("1.1.1"))
    settings.ZKDASH_CLUSTERS = (config_of(chroot.address),)
    return chroot


@pytest.mark.zk
def test_plan_prints_the_plan_and_writes_nothing_anywhere(shell: Shell, cluster: Chroot) -> None:
    before = everything.below(cluster.client)
    plan = shell("plan", *CLUSTER, DELETE)
    assert (plan["kind"], plan["target"], plan["confirm"]) == ("delete-topic", "t", "t")
    assert [write["path"] for step in plan["steps"] for write in step["writes"]][
        -1
    ] == "/admin/delete_topics/t"
    assert "Judged as if the topic was gone." in " ".join(plan["foreseen"]["assumed"])
    assert everything.below(cluster.client) == before
    assert not Action.objects.exists()
    assert not Audit.objects.exists()


@pytest.mark.zk
def test_a_plan_tells_the_findings_that_it_would_make(shell: Shell, cluster: Chroot) -> None:
    one = '{"kind": "create-topic", "topic": "lonely", "partitions": 2, "replication": 1}'
    begun = shell("plan", *CLUSTER, one)["foreseen"]["begun"]
    assert [(finding["check"], finding["causes"]) for finding in begun] == [
        ("D15", [{"name": "lonely", "why": "2 of 2 have one replica"}])
    ]


@pytest.mark.zk
def test_queue_queues_only_with_yes_and_with_what_is_to_be_typed(
    shell: Shell, cluster: Chroot, capsys: pytest.CaptureFixture[str]
) -> None:
    operator("ann")
    asked = ("queue", *CLUSTER, DELETE, "--as", "ann", "--reason", "unused")
    assert shell(*asked)["steps"]
    assert capsys.readouterr().err == "Nothing was queued: this is the plan; repeat it with --yes.\n"
    assert shell.refused(*asked, "--yes") == 'Nothing was queued: this asks for --confirm "t".'
    assert (
        shell.refused(*asked, "--yes", "--confirm", "T") == 'Nothing was queued: this asks for --confirm "t".'
    )
    assert not Action.objects.exists()

    shown = shell(*asked, "--yes", "--confirm", "t", "--not-before", "2026-11-21T12:00")
    action = Action.objects.get()
    assert (shown["id"], shown["state"], shown["by"], shown["source"]) == (
        action.id,
        "queued",
        "ann",
        "command",
    )
    assert (action.reason, action.not_before) == ("unused", NOW)


@pytest.mark.zk
def test_queue_waits_for_a_second_person_where_the_cluster_asks_for_one(
    shell: Shell, cluster: Chroot, settings: Settings
) -> None:
    operator("ann")
    Grant.objects.create(user_id=operator("ben").user_id, role="approver")
    settings.ZKDASH_CLUSTERS = (config_of(cluster.address, approval=True),)
    shown = shell("queue", *CLUSTER, DELETE, "--as", "ann", "--yes", "--confirm", "t")
    number = str(shown["id"])
    assert shown["state"] == "pending"
    assert shell.refused("approve", number, "--as", "ann") == (
        "ann may not approve on test: an administrator can grant it."
    )
    assert shell("approve", number, "--as", "ben")["state"] == "queued"


@pytest.mark.zk
def test_what_the_plan_refuses_is_told_and_queued_by_nobody(shell: Shell, cluster: Chroot) -> None:
    operator("ann")
    unknown = '{"kind": "delete-topic", "topic": "nowhere"}'
    sentence = shell.refused("plan", *CLUSTER, unknown)
    assert "nowhere" in sentence
    assert shell.refused("queue", *CLUSTER, unknown, "--as", "ann", "--yes") == sentence
    assert not Action.objects.exists()


@pytest.mark.zk
def test_an_intent_may_come_from_a_file_or_from_standard_input(
    shell: Shell, cluster: Chroot, tmp_path: Path, database: Database
) -> None:
    file = tmp_path / "intent.json"
    file.write_text(DELETE)
    assert shell("plan", *CLUSTER, str(file))["target"] == "t"

    done = subprocess.run(
        [sys.executable, "manage.py", "action", "plan", "--cluster", "default", "-"],
        cwd=ROOT,
        env={"PATH": "", **database.environment, "ZKDASH_ZOOKEEPER": cluster.address},
        input=DELETE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["target"] == "t"


@pytest.mark.parametrize("deed", ["stop", "pause", "resume", "approve"])
def test_who_may_not_act_on_the_cluster_asks_for_nothing(shell: Shell, deed: str) -> None:
    action = queue.submit(proposed().id, Actor("x"))
    operator("ann", clusters="other")
    right = "approve" if deed == "approve" else "act"
    assert shell.refused(deed, str(action.id), "--as", "ann") == (
        f"ann may not {right} on c: an administrator can grant it."
    )
    assert shell.refused(deed, str(action.id), "--as", "nobody") == (
        "There is no user 'nobody': --as takes the name of an existing one."
    )
    assert Action.objects.get().revision == action.revision


def test_an_action_is_paused_resumed_and_stopped_by_its_number(shell: Shell) -> None:
    operator("ann")
    number = str(queue.submit(proposed().id, Actor("x")).id)
    asked = (number, "--as", "ann")
    assert shell("pause", *asked)["pause_wanted"] is True
    assert shell("resume", *asked)["pause_wanted"] is False
    assert shell("stop", *asked)["state"] == "stopped"
    assert shell.refused("stop", *asked) == (
        f"Action {number} (delete-topic on c) is stopped and cannot be stopped: "
        "it has ended; propose a new one from the cluster as it is now."
    )


def test_an_unknown_write_is_settled_by_who_looked(shell: Shell) -> None:
    operator("ann")
    queue.submit(proposed().id, Actor("x"))
    held = leasing.claim(["c"], "w1", 10, NOW)
    assert held is not None
    assert leasing.intend(held, 0, NOW)
    assert leasing.end(held, State.UNKNOWN, "Nobody can tell.", NOW, number=0)
    shown = shell("settle", str(held.id), "--as", "ann", "--applied", "no", "no znode there")
    assert (shown["state"], shown["result"]) == ("failed", "ann: no znode there")


def test_show_and_list_print_actions_whatever_their_names(shell: Shell, settings: Settings) -> None:
    settings.ZKDASH_CLUSTERS = (config_of("127.0.0.1:1"),)
    first, second = proposed("test", steps=2), proposed("test")
    Action.objects.filter(id=second.id).update(target=b"a\0\xed\xa0\x80")
    shown = shell("show", str(first.id))
    assert (shown["entry"]["id"], len(shown["steps"]), shown["plan"]["kind"]) == (first.id, 2, "delete-topic")
    assert shown["audit"][0]["event"] == "proposed"
    assert [one["id"] for one in shell("list")] == [second.id, first.id]
    assert shell("list", *CLUSTER)[0]["target"] == "a\0\ud800"
    assert shell("list", "--state", "queued") == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("show", "7"), "There is no action 7: it was never proposed here."),
        (("plan", "--cluster", "x", DELETE), "There is no cluster 'x' (test)."),
        (("plan", *CLUSTER, "{"), "This is no intent: Expecting property name"),
        (
            ("plan", *CLUSTER, "/no/such/file"),
            "Cannot read '/no/such/file': No such file or directory. Give JSON",
        ),
        (("plan", *CLUSTER, "[1]"), "Cannot read '[1]': No such file"),
        (
            ("queue", *CLUSTER, DELETE, "--as", "x", "--not-before", "noon"),
            "'noon' is not a time such as 2026-",
        ),
    ],
    ids=["no action", "no cluster", "no JSON", "no file", "no object", "no time"],
)
def test_what_cannot_be_is_told_in_a_sentence(
    shell: Shell, settings: Settings, arguments: tuple[str, ...], told: str
) -> None:
    settings.ZKDASH_CLUSTERS = (config_of("127.0.0.1:1"),)
    assert told in shell.refused(*arguments)
