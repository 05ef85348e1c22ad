"""An operator of the simulated cluster: plans as the dashboard does, writes, and waits for each goal."""

from __future__ import annotations

from typing import Any, Self

from kazoo.exceptions import KazooException

from tests.conftest import Chroot
from tests.demo.living import SMALL, Cluster
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import goals, planner
from zkdash.cluster.plans.goals import Goal, Progress
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Ground, Operation, Plan, Step
from zkdash.cluster.reducer import advance
from zkdash.demo.specs import Catalogue
from zkdash.kafka import editing, paths
from zkdash.zk.config import ClusterConfig
from zkdash.zk.reader.one_shot import OneShotReader
from zkdash.znode import Batch, Unreadable


class Operator:
    """Works on a cluster that runs meanwhile, whose clock moves only while a goal is waited for."""

    def __init__(self, chroot: Chroot, contents: Catalogue = SMALL) -> None:
        self.cluster = Cluster(chroot, contents)
        server, _, root = chroot.address.partition("/")
        host, _, port = server.rpartition(":")
        self._asker = OneShotReader(ClusterConfig("demo", ((host, int(port)),), f"/{root}"))

    def __enter__(self) -> Self:
        self.cluster.simulation.start()
        self._asker.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._asker.__exit__()
        self.cluster.simulation.stop()
        assert self.cluster.simulation.failures == []

    def state(self) -> ClusterState:
        """The whole cluster as of now."""
        return advance.advance(ClusterState(), self._asker.load(paths.ROOTS))[0]

    def plan(self, intent: Intent) -> Plan:
        """What would be written."""
        needs = planner.needs(intent)
        return planner.plan(intent, Ground(self.state(), self._asker.read(needs.paths, needs.subtrees)))

    def carry_out(self, intent: Intent, limit_s: int = 60) -> list[Progress]:
        """Every step and its goal; how far the goals were, second by second of the cluster's time."""
        plan = self.plan(intent)
        assert plan.refusals == ()
        seen: list[Progress] = []
        for step in plan.steps:
            self.write(step)
            seen += self.wait(step.goal, limit_s)
        return seen

    def write(self, step: Step) -> None:
        """Commit a step as one multi."""
        transaction = self.cluster.client.transaction()
        for write in step.writes:
            if write.operation is Operation.CREATE:
                transaction.create(write.path, self._data(write) or b"", sequence=write.sequential)
            elif write.operation is Operation.SET:
                transaction.set_data(write.path, self._data(write), version=write.expected)
            elif write.operation is Operation.DELETE:
                transaction.delete(write.path, version=write.expected)
            else:
                transaction.check(write.path, write.expected)
        assert [answer for answer in transaction.commit() if isinstance(answer, KazooException)] == []

    def wait(self, goal: Goal, limit_s: int = 60) -> list[Progress]:
        """Let the cluster live until a goal is reached; how far it was each second."""
        seen: list[Progress] = []

        def reached() -> bool:
            seen.append(self.progress(goal))
            assert seen[-1].failures == ()
            return seen[-1].reached

        if not reached():
            self.cluster.pass_time(limit_s, reached)
        return seen

    def progress(self, goal: Goal) -> Progress:
        """How far a goal is, told from the znodes that tell of it."""
        read = self._asker.read(goals.paths(goal))
        return goals.progress(goal, advance.advance(ClusterState(), Batch(read, 1, whole=True))[0])

    def _data(self, write: Any) -> Any:
        if write.edit is None:
            return write.after
        found = self._asker.read([write.path]).get(write.path)
        assert not isinstance(found, Unreadable)
        return editing.merge_config(found and found.data, write.edit.put, write.edit.drop)
