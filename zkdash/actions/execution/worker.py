"""The worker that carries out the queue: a thread a cluster, in `serve` or in `execute`, its own process.

A thread claims what is due, carries it out, and once an hour deletes old markers. Several workers, in one
process or in many, never get the same action, and never two of one cluster.
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
from zkdash.actions.execution.reaping import Reaper
from zkdash.actions.models import Action
from zkdash.zk.config import ClusterConfig
from zkdash.zk.reader.one_shot import OneShotError, OneShotReader

# A step that was begun is ended before the process is.
STOP_LIMIT_S = 8.0
_POLL_S = 1.0
_FAILED_S = 5.0

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
        loops = [
            _Loop(
                config,
                owner=owner,
                leaving=self._leaving,
                notify=notify,
                clock=clock,
                lease_s=lease_s,
                poll_s=poll_s,
            )
            for config in configs
        ]
        self._threads = [
            threading.Thread(target=loop.run, name=f"worker-{loop.name}", daemon=True) for loop in loops
        ]

    def start(self) -> None:
        """Begin; returns at once."""
        for thread in self._threads:
            thread.start()

    def leave(self) -> None:
        """Begin nothing more; returns at once."""
        self._leaving.set()

    def stop(self, limit_s: float = STOP_LIMIT_S) -> bool:
        """Let each end the write under way and give its action up; whether all did within the limit."""
        self.leave()
        deadline = time.monotonic() + limit_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)


class _Loop:
    """One cluster's thread."""

    def __init__(
        self,
        config: ClusterConfig,
        *,
        owner: str,
        leaving: threading.Event,
        notify: Callable[[str], None],
        clock: Clock,
        lease_s: float,
        poll_s: float,
    ) -> None:
        self.name = config.name
        self._config, self._owner, self._leaving = config, owner, leaving
        self._clock, self._lease_s, self._poll_s = clock, lease_s, poll_s
        self._executor = Executor(config, leaving=leaving, clock=clock, lease_s=lease_s, notify=notify)
        self._reaper = Reaper(config)
        self._complained = ""

    def run(self) -> None:
        pause = 0.0
        while not self._leaving.wait(pause):
            try:
                pause = 0.0 if self._turn() else self._poll_s
                self._complained = ""
            except Error as error:
                self._complain(
                    f"the database fails ({databases.line(error)}), so that nothing is written to ZooKeeper"
                )
                pause = _FAILED_S
            except Exception:
                log.exception("The worker of %s failed; it goes on with what it finds", self.name)
                pause = _FAILED_S
            finally:
                connections.close_all()

    def _turn(self) -> bool:
        """Carry out one action, if there is one; False where there is nothing to do."""
        if not self._is_free():
            return False
        action = leasing.claim((self.name,), self._owner, self._lease_s, self._clock())
        if action is None:
            self._reaper.turn(self._clock())
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
