"""The worker that carries out the queue, in `serve` or in `execute`, its own process.

One thread looks, once a second, which clusters have actions queued or under way, and whose turn it is to
have old markers deleted. There a thread of the cluster's own claims what is due and carries it out, and ends
when nothing is. Several workers, in one process or in many, never get the same action, and never two of one
cluster.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from django.db import Error, connections

from zkdash import databases, logs
from zkdash.actions import documents
from zkdash.actions.execution import leasing, preconditions, status_notes
from zkdash.actions.execution.executor import Executor
from zkdash.actions.execution.lease import LEASE_S, Clock
from zkdash.actions.execution.reaping import Reaper, Rota
from zkdash.actions.models import Action
from zkdash.actions.states import State
from zkdash.zk.config import ClusterConfig
from zkdash.zk.reader.one_shot import OneShotError, OneShotReader

# A step that was begun is ended before the process is.
STOP_LIMIT_S = 8.0
_POLL_S = 1.0
_FAILED_S = 5.0
# What `leasing.claim` takes, now or when its time or the end of a lease has come.
_CLAIMABLE = (State.QUEUED, State.RUNNING, State.VERIFYING)

log = logging.getLogger(__name__)


def own_name() -> str:
    """A name that no other worker has had: host, process, and a number drawn."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def utc_now() -> datetime:
    return datetime.now(UTC)


class Worker:
    """Carries out the actions of these clusters. `start` once, `stop` once.

    `clock` gives UTC; a wrong one costs time, not safety. `notify` is told a cluster's name, on a thread of
    the worker, after each change that it made to that cluster's queue.
    """

    def __init__(
        self,
        configs: Iterable[ClusterConfig],
        *,
        owner: str,
        notify: Callable[[str], None] = lambda _cluster: None,
        clock: Clock = utc_now,
        lease_s: float = LEASE_S,
        poll_s: float = _POLL_S,
    ) -> None:
        self._leaving = threading.Event()
        self._poll_s = poll_s
        self._clock = clock
        self._loops = {
            config.name: _Loop(
                config,
                owner=owner,
                leaving=self._leaving,
                notify=notify,
                clock=clock,
                lease_s=lease_s,
            )
            for config in configs
        }
        self._rota = Rota(loop.reaper for loop in self._loops.values())
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)

    def start(self) -> None:
        """Begin, where there is any cluster; returns at once."""
        if self._loops:
            self._thread.start()

    def leave(self) -> None:
        """Begin nothing more; returns at once."""
        self._leaving.set()

    def stop(self, limit_s: float = STOP_LIMIT_S) -> bool:
        """Let each end the write under way and give its action up; whether all did within the limit."""
        self.leave()
        deadline = time.monotonic() + limit_s
        threads = [self._thread, *(loop.thread for loop in self._loops.values())]
        for thread in threads:
            if thread.is_alive():
                thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _run(self) -> None:
        pause = 0.0
        while not self._leaving.wait(pause):
            pause = self._poll_s
            try:
                for loop in self._with_work():
                    loop.visit()
            except Error as error:
                for loop in self._loops.values():
                    loop.complain(error)
                pause = _FAILED_S
            except Exception:
                log.exception("The worker failed; it goes on with what it finds")
                pause = _FAILED_S
            finally:
                connections.close_all()

    def _with_work(self) -> list[_Loop]:
        """Those with actions queued or under way, by one query for all, and one with something to reap."""
        claimable = Action.objects.filter(cluster__in=self._loops, state__in=_CLAIMABLE)
        names = set(claimable.values_list("cluster", flat=True).distinct())
        if reaper := self._rota.next(self._clock()):
            names.add(reaper.cluster)
        return [loop for name, loop in self._loops.items() if name in names]


class _Loop:
    """One cluster's thread, as long as there is something to do."""

    def __init__(
        self,
        config: ClusterConfig,
        *,
        owner: str,
        leaving: threading.Event,
        notify: Callable[[str], None],
        clock: Clock,
        lease_s: float,
    ) -> None:
        self.name = config.name
        self._config, self._owner, self._leaving = config, owner, leaving
        self._clock, self._lease_s = clock, lease_s
        self._executor = Executor(config, leaving=leaving, clock=clock, lease_s=lease_s, notify=notify)
        self.reaper = Reaper(config)
        self._complained = ""
        self._again_at = float("-inf")
        self.thread = self._new_thread()

    def visit(self) -> None:
        """Do what there is to do, on a thread of its own, unless one does already."""
        if not self.thread.is_alive() and time.monotonic() >= self._again_at:
            self.thread = self._new_thread()
            self.thread.start()

    def complain(self, error: Error) -> None:
        """Say that the database fails, once for a failure that lasts."""
        self._complain(
            f"the database fails ({databases.line(error)}), so that nothing is written to ZooKeeper"
        )

    def _new_thread(self) -> threading.Thread:
        return threading.Thread(target=self._run, name=f"worker-{self.name}", daemon=True)

    def _run(self) -> None:
        try:
            while not self._leaving.is_set() and self._turn():
                pass
            self._complained = ""
        except Error as error:
            self.complain(error)
            self._again_at = time.monotonic() + _FAILED_S
        except Exception:
            log.exception("The worker of %s failed; it goes on with what it finds", self.name)
            self._again_at = time.monotonic() + _FAILED_S
        finally:
            connections.close_all()

    def _turn(self) -> bool:
        """Carry out one action, if there is one; False where there is nothing to do."""
        if not self._is_free():
            return False
        action = leasing.claim((self.name,), self._owner, self._lease_s, self._clock())
        if action is None:
            self.reaper.turn(self._clock())
            return False
        with logs.about(lambda: {"cluster": self.name, "action": action.id}):
            self._carry_out(action)
        return True

    def _carry_out(self, action: Action) -> None:
        log.info("Action %s (%s) on %s begins, or goes on", action.id, action.kind, self.name)
        try:
            self._executor.run(action)
        except Error:
            raise
        except Exception:
            status_notes.say(action, "zkdash failed at this action; its log says why. It is tried again.")
            raise

    def _is_free(self) -> bool:
        """Whether what is due could begin; where it could not, its row says what it waits for."""
        due = status_notes.next_due(self.name, self._clock())
        if due is None or not due.plan:
            return True
        obstacle = self._obstacle(due)
        if obstacle:
            status_notes.say(due, obstacle)
        return not obstacle

    def _obstacle(self, due: Action) -> str:
        try:
            intent, plan = documents.intent(due.intent), documents.plan(due.plan)
        except documents.DocumentError:
            return ""  # whoever carries it out says so
        if plan is None or not preconditions.needs_freedom(plan.steps[0]):
            return ""
        try:
            with OneShotReader(self._config, leaving=self._leaving) as asker:
                return preconditions.obstacle(
                    intent, plan.steps[:1], preconditions.look(asker, plan.steps[:1])
                )
        except OneShotError as error:
            return str(error)

    def _complain(self, trouble: str) -> None:
        """Once for a failure that lasts."""
        if trouble != self._complained:
            log.error("The worker of %s waits: %s", self.name, trouble)
            self._complained = trouble
