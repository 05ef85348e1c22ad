"""Workers that die, on one cluster and one database, and what must hold of both afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from tests import forking
from tests.conftest import Chroot
from tests.databases import Database
from tests.faults import cluster
from tests.faults.controller import ELECTION, REASSIGNMENT, Controller
from tests.processes import inherited, is_running
from tests.waiting import wait_for
from tests.zk.reader.test_one_shot import config_of
from zkdash.actions import audit, documents
from zkdash.actions.actor import Actor
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import planning, queue
from zkdash.actions.states import ENDED, State
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans.intents import ChangeConfig, ElectPreferred, Intent, Reassign
from zkdash.cluster.reducer import advance
from zkdash.formats.redaction import Redaction
from zkdash.formats.txnlog import frames, plain, rows
from zkdash.kafka import paths
from zkdash.kafka.values import Move
from zkdash.zk.reader import one_shot as asking

ROOT = Path(__file__).resolve().parents[2]
ANN = Actor("ann")
CLUSTER = "test"
ZYGOTE = "tests/faults/zygote.py"
LIMIT_S = 60.0
LEASE_S = 0.5
_MARKER = re.compile(r".*/zkdash/applied/(\d+)-(\d+)-[0-9a-f]+")


class Realm:
    """A cluster with a controller that counts, a queue, and a zygote that forks workers.

    Election `n` is of partition `n` of the topic "e", move and change number `n` are of a topic of their own:
    whatever is done twice shows.
    """

    def __init__(
        self, chroot: Chroot, database: Database, seed: int, *, most: int, markers: bool = True
    ) -> None:
        self.chroot, self.client = chroot, chroot.client
        self.config = config_of(chroot.address, markers=markers)
        self.controller = Controller(chroot.address, seed, pause_s=0.02)
        cluster.make(self.client, topics=0)
        cluster.topics(self.client, {"e": most} | {f"o{number}": 2 for number in range(1, most, 2)})
        self._since = int(self.client.last_zxid)
        # as everything was before anything moved: whoever plans later is told to wait
        self._state, _ = advance.advance(ClusterState(), asking.load(self.config, paths.ROOTS))
        self._numbers = iter(range(most))
        self._environ = {
            **inherited(),
            **database.environment,
            "DJANGO_SETTINGS_MODULE": "zkdash.settings",
        }
        toml = Path(database.environment["ZKDASH_DATA"]) / "clusters.toml"
        toml.write_text(
            f'[clusters.{CLUSTER}]\nzookeeper = "{chroot.address}"\nsession_timeout_s = 4\n'
            f"markers = {str(markers).lower()}\n"
        )
        self.config_file = self._environ["ZKDASH_CONFIG"] = str(toml)
        self.skews: dict[int, float] = {}  # by the pids of those that live

    def __enter__(self) -> Self:
        asked, asking = os.pipe()
        told, telling = os.pipe()
        self._zygote = forking.Process([ZYGOTE], env=self._environ, stdin=asked, stdout=telling)
        os.close(asked)
        os.close(telling)
        self._asking, self._told = os.fdopen(asking, "w"), os.fdopen(told)
        self.controller.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self.skews:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with self._asking, self._told:
            self._zygote.kill()
            self._zygote.wait()
        self.controller.__exit__()

    # Workers

    def fork(self, **asked: Any) -> int:
        """Another worker; its pid."""
        self._asking.write(json.dumps({"lease_s": LEASE_S, **asked}) + "\n")
        self._asking.flush()
        pid = int(self._told.readline())
        self.skews[pid] = asked.get("skew_s", 0.0)
        return pid

    def execute(self, *arguments: str) -> subprocess.Popen[str]:
        """A real `manage.py execute`."""
        started = subprocess.Popen(
            [sys.executable, "manage.py", "execute", *arguments],
            cwd=ROOT,
            env=self._environ,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert started.stdout is not None
        assert "carries out the actions" in started.stdout.readline()
        return started

    def end(self, pid: int, number: int = signal.SIGKILL) -> None:
        """End a worker of ours, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        wait_for(lambda: not is_running(pid), LIMIT_S)
        del self.skews[pid]

    def wait_until_dead(self, pid: int) -> None:
        wait_for(lambda: not is_running(pid), LIMIT_S, lambda: f"{self.told()}")
        del self.skews[pid]

    def holder(self) -> int | None:
        """The worker that holds the action at work."""
        owner = Action.objects.filter(state__in=(State.RUNNING, State.VERIFYING)).values_list(
            "owner", flat=True
        )
        pid = int(owner[0].split(":")[1]) if owner and owner[0] else None
        return pid if pid in self.skews else None

    # Actions

    def elections(self, count: int) -> list[Action]:
        return self._queued([self.election(next(self._numbers)) for _ in range(count)])

    @staticmethod
    def election(number: int) -> Intent:
        return ElectPreferred(partitions=(("e", number),))

    def mixed(self, count: int) -> list[Action]:
        """Elections, changes of a configuration, and moves in two steps."""
        intents: list[Intent] = []
        for number in (next(self._numbers) for _ in range(count)):
            own = f"o{number}"
            if number % 4 == 1:
                intents.append(ChangeConfig(own, {"retention.ms": "1"}))
            elif number % 4 == 3:
                intents.append(Reassign((Move(own, 0, (3, 4)), Move(own, 1, (3, 4))), concurrent=1))
            else:
                intents.append(self.election(number))
        return self._queued(intents)

    def unplanned(self) -> Action:
        """A repeated action whose time has come."""
        made = self.elections(1)[0]
        Action.objects.filter(id=made.id).update(plan=b"")
        made.steps.all().delete()
        return made

    def _queued(self, intents: list[Intent]) -> list[Action]:
        return [self.queued(intent) for intent in intents]

    def queued(self, intent: Intent) -> Action:
        plan = planning.plan(self.config, intent, self._state)
        assert plan.refusals == ()
        return queue.submit(queue.propose(CLUSTER, intent, plan, ANN).id, ANN)

    def wait_until_over(self, limit_s: float = LIMIT_S) -> None:
        """Until every action has ended or waits for a person."""
        over = ENDED | {State.UNKNOWN}
        wait_for(lambda: not Action.objects.exclude(state__in=over).exists(), limit_s, self.told)

    def told(self) -> str:
        left = Action.objects.exclude(state=State.DONE)
        for pid in self.skews:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGUSR1)
        return f"workers {self.skews}; " + "; ".join(
            f"{one} ({one.owner}) at step {one.step}: {one.result}" for one in left[:5]
        )

    # What must hold

    def doubles(self) -> dict[object, int]:
        """What the controller was asked for, or brokers were told, more than once."""
        told = Counter(
            self.client.get(f"/config/changes/{name}")[0]
            for name in self.client.get_children("/config/changes")
        )
        return {what: count for what, count in (self.controller.taken + told).items() if count > 1}

    def check(self) -> Counter[str]:
        """A1, A2, A4 and L1; how many actions ended how."""
        assert self.doubles() == {}
        states = Counter(Action.objects.values_list("state", flat=True))
        assert set(states) <= {*ENDED, State.UNKNOWN}, self.told()
        for action in Action.objects.filter(state=State.DONE):
            for what in _asked(documents.intent(action.intent)):
                assert self.controller.taken[what] == 1, f"{what} of {action} was never applied"
        self._check_audit()
        assert audit.verify().broken is None
        _check_one_at_a_time()
        return states

    def unintended(self) -> set[tuple[int, int]]:
        """A8: the steps, as (action, number), that were written though the database tells of no intent."""
        written = {
            (int(found[1]), int(found[2]))
            for multi in self._multis()
            for row in multi
            if not row.failed and (found := _MARKER.fullmatch(row.path or ""))
        }
        return written.difference(Audit.objects.filter(event="intended").values_list("action", "step"))

    def _check_audit(self) -> None:
        """Each znode that was written has one row, with its transaction, and nothing else has."""
        wrote = Counter((row.zxid, documents.unpack(row.path)) for row in Audit.objects.filter(event="wrote"))
        assert wrote == self._writes()

    def _writes(self) -> Counter[tuple[int | None, str]]:
        """What our multis wrote, as ZooKeeper's own transaction log has it: those that made a marker."""
        found: Counter[tuple[int | None, str]] = Counter()
        made: Counter[str] = Counter()
        for multi in self._multis():
            markers = [row.path for row in multi if "/zkdash/applied/" in (row.path or "")]
            if multi[0].failed or not markers:
                continue
            made.update(filter(None, markers))
            for row in multi:
                path = (row.path or "").removeprefix(self.chroot.path)
                if row.type != rows.CHECK and not path.startswith("/zkdash"):
                    is_numbered = path.startswith("/config/changes/")
                    found[row.zxid, path[:-10] if is_numbered else path] += 1
        assert set(made.values()) <= {1}, "a marker was made twice"
        return found

    def _multis(self) -> Iterator[list[rows.Row]]:
        """The multis below the chroot since it was made."""
        nothing = Redaction((), lambda _path, data: data)
        for log in sorted((self.chroot.server.data_dir / "version-2").glob("log.*")):
            data = log.read_bytes()
            for frame in frames.frames(data):
                if isinstance(frame, frames.Frame) and self._since < _zxid(data, frame):
                    multi = plain.transaction(data, frame.start, frame.end, nothing)
                    if multi[0].multi and (multi[0].path or "").startswith(self.chroot.path + "/"):
                        yield multi


def _zxid(data: bytes, frame: frames.Frame) -> int:
    return int(plain.HEADER.unpack_from(data, frame.start)[2])


def _asked(intent: Intent) -> list[tuple[str, str, int]]:
    if isinstance(intent, ElectPreferred):
        return [(ELECTION, *pair) for pair in intent.partitions]
    if isinstance(intent, Reassign):
        return [(REASSIGNMENT, move.topic, move.partition) for move in intent.moves]
    return []


def _check_one_at_a_time() -> None:
    at_work: int | None = None
    for row in Audit.objects.filter(event__in=("claimed", "ended", "unknown")).order_by("id"):
        if row.event == "claimed":
            assert at_work is None, f"action {row.action} was begun beside action {at_work}"
            at_work = row.action
        else:
            assert at_work == row.action
            at_work = None
