"""One claimed action on one cluster, from where it stands to its end.

For each step: what it touches is read and compared with what was reviewed, the intent is made durable, one
multi is sent once, its outcome written down, and its goal followed until it is reached. Whatever dies in
between is found by the step's state and its marker in ZooKeeper.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from zkdash.actions import documents
from zkdash.actions.execution import leasing, preconditions
from zkdash.actions.execution.failpoints import hit
from zkdash.actions.execution.goal_waiter import pursue
from zkdash.actions.execution.lease import LEASE_S, Clock, Lease, LostError
from zkdash.actions.execution.run import LeavingError, OverError, Run, Tools
from zkdash.actions.execution.step_executor import StepExecutor
from zkdash.actions.models import Action
from zkdash.actions.queue import planning
from zkdash.actions.states import State, StepState
from zkdash.cluster.plans.values import Plan
from zkdash.zk.config import ClusterConfig
from zkdash.zk.reader.one_shot import OneShotError, OneShotReader
from zkdash.zk.writing.writer import Writer

_AGAIN_S = 1.0

log = logging.getLogger(__name__)


class Executor:
    """Carries out actions of one cluster, one at a time.

    `leaving` is set when the process is to end: the write under way is ended, the action given up as it
    stands. `notify` is told the cluster's name after each change of the queue.
    """

    def __init__(
        self,
        config: ClusterConfig,
        *,
        leaving: threading.Event,
        clock: Clock,
        lease_s: float = LEASE_S,
        notify: Callable[[str], None] = lambda _cluster: None,
    ) -> None:
        self._config, self._leaving, self._clock = config, leaving, clock
        self._lease_s, self._notify = lease_s, notify

    def run(self, action: Action) -> None:
        """Carry out a claimed action until it ended, was lost to another worker, or the process is to end.

        Raises django.db.DatabaseError where the database fails; nothing is written to ZooKeeper then.
        """
        holder = documents.encode({"action": action.id, "claim": action.fence})
        try:
            with (
                Lease(action, self._clock, self._lease_s) as lease,
                OneShotReader(self._config, leaving=self._leaving) as asker,
                Writer(self._config, holder=holder, leaving=self._leaving) as writer,
            ):
                tools = Tools(asker, writer, lease, self._leaving, self._clock, self._notify)
                self._carry_out(action, tools)
        except LostError:
            log.info("Action %s was taken over by another worker", action.id)
        except LeavingError:
            leasing.release(action, self._clock())

    def _carry_out(self, action: Action, tools: Tools) -> None:
        hit("claimed")
        try:
            over = OverError(State.DONE, self._through(action, tools))
        except OverError as ended:
            over = ended
        hit("ending")
        is_ended = leasing.end(
            action, over.state, over.sentence, self._clock(), number=over.number, again=over.again
        )
        tools.lease.held(is_ended)
        hit("ended")
        log.info("Action %s on %s: %s. %s", action.id, action.cluster, over.state, over.sentence)
        self._notify(action.cluster)

    def _through(self, action: Action, tools: Tools) -> str:
        """All steps that are left; the sentence about their end."""
        try:
            intent, plan = documents.intent(action.intent), documents.plan(action.plan)
        except documents.DocumentError as error:
            raise OverError(State.FAILED, f"{error} Nothing was written.") from error
        run = Run(action, intent, plan or Plan(action.kind, ""), tools, markers=self._config.markers)
        run.say("")
        self._require_approval(action)
        if plan is None:
            plan = run.plan = self._planned(run)
        stepper = StepExecutor(run)
        own: preconditions.Own = {}
        for number, step in enumerate(plan.steps):
            if number >= action.step:
                stepper.write(number, own)
                pursue(run, number, step)
            own = preconditions.after(step, own)
        count = len(plan.steps)
        return f"All {count} steps were carried out." if count > 1 else "The one step was carried out."

    def _require_approval(self, action: Action) -> None:
        """What repeats is never approved, so that it ends where approval came to be asked for; what has
        begun is carried through."""
        if not self._config.approval or action.repeat_s is None or action.approved_at is not None:
            return
        if not action.steps.exclude(state=StepState.WAITING).exists():
            raise OverError(
                State.REFUSED,
                f"Since this was queued, actions on {action.cluster} have to be approved by a second person, "
                "which a repeated one cannot be: propose it once. Nothing was written, nothing is repeated.",
                again=False,
            )

    def _planned(self, run: Run) -> Plan:
        """A repeated action is planned when its time has come; it is done where there is nothing to do."""
        while True:
            run.check(0)
            try:
                plan = planning.plan(self._config, run.intent)
                break
            except OneShotError as error:
                run.say(str(error))
                run.wait(_AGAIN_S)
        if plan.refusals:
            state = State.DONE if plan.is_idle else State.REFUSED
            raise OverError(state, f"{' '.join(plan.refusals)} Nothing was written.")
        run.lease.held(leasing.replan(run.action, plan))
        hit("planned")
        return plan
