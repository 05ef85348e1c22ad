"""Writing one step: check it, record the intent, send it once, find out its outcome; never resent blindly."""

from __future__ import annotations

from collections.abc import Sequence

from zkdash.actions.execution import leasing, markers, preconditions
from zkdash.actions.execution.failpoints import hit
from zkdash.actions.execution.preconditions import Found, Own
from zkdash.actions.execution.run import OverError, Run
from zkdash.actions.states import State, StepState
from zkdash.cluster.plans.values import Step
from zkdash.kafka.documents.document import few
from zkdash.zk.reader.one_shot import OneShotError
from zkdash.zk.writing import writer as writing
from zkdash.zk.writing.outcomes import Committed, Fenced, Outcome, Refused, Unknown, UnreachedError

_AGAIN_S = 1.0
_FENCED_S = 0.2
# An answer that is lost so often is no accident of the connection.
_MOST_LOST = 5


class StepExecutor:
    """Writes the steps of one run in their order."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._is_fenced = False  # whether the fence is held
        self._compared = False  # whether all that is left was compared with what was reviewed
        self._lost = 0

    def write(self, number: int, own: Own) -> None:
        """Return when step `number` is applied and that is written down. Raises OverError where it is not."""
        state = self._run.action.steps.get(number=number).state
        if state in {StepState.APPLIED, StepState.VERIFIED}:
            return
        is_written = state == StepState.INTENDED and self._was_applied(number)
        while not is_written:
            is_written = self._attempt(number, own)
        self._run.told()

    def _attempt(self, number: int, own: Own) -> bool:
        run = self._run
        run.check(number)
        try:
            if not self._is_fenced:
                run.tools.writer.take()
                self._is_fenced = True
                hit("taken")
            if not self._may_begin(number, own):
                run.wait(_AGAIN_S)
                return False
            hit("compared")
            if not leasing.intend(run.action, number, run.tools.clock()):
                return False  # somebody wants it to stop or to pause, or has taken it over: see `check`
            hit("intended")
            ops = preconditions.operations(run.plan.steps[number], own)
            outcome = run.tools.writer.commit(ops, self._marker(number) if run.markers else None)
        except (OneShotError, UnreachedError) as error:
            self._is_fenced = False
            run.say(str(error))
            run.wait(_AGAIN_S)
            return False
        return self._judge(outcome, number, own)

    def _judge(self, outcome: Outcome, number: int, own: Own) -> bool:
        run = self._run
        match outcome:
            case Committed(zxid):
                hit("committed")
                self._write_down(number, zxid)
                return True
            case Refused(sentence=sentence):
                raise OverError(
                    State.REFUSED, self._refused(number, self._why(number, own, sentence)), number
                )
            case Fenced():
                # taken by who takes the action over, which `wait` notices, or by another installation
                self._is_fenced = False
                run.wait(_FENCED_S)
            case Unknown(reason):
                self._lost += 1
                if self._was_applied(number, reason):
                    return True
                if self._lost >= _MOST_LOST:
                    refusal = f"Step {run.at(number)} was not applied: {reason}"
                    raise OverError(State.FAILED, f"{refusal} {run.so_far(number)}", number)
        return False

    def _was_applied(self, number: int, reason: str = "") -> bool:
        """What became of a write whose answer nobody has; after this it is settled for good."""
        run = self._run
        if not run.markers:
            trouble = reason or "A worker died while it wrote."
            raise OverError(
                State.UNKNOWN,
                f"{trouble} Nobody can tell whether step {run.at(number)} was applied, because markers = "
                "false: look at the cluster, and settle it.",
                number,
            )
        while True:
            try:
                zxid = run.tools.writer.look(self._marker(number))
            except UnreachedError as error:
                run.say(
                    f"{error} Whether step {run.at(number)} was applied is looked up as soon as it answers."
                )
                run.wait(_AGAIN_S)
                continue
            self._is_fenced = True
            hit("looked")
            if zxid is not None:
                self._write_down(number, zxid)
            return zxid is not None

    def _write_down(self, number: int, zxid: int | None) -> None:
        run, writes = self._run, self._run.plan.steps[number].writes
        run.lease.held(leasing.applied(run.action, number, zxid, writes, run.tools.clock()))
        hit("applied")

    def _may_begin(self, number: int, own: Own) -> bool:
        """Whether the cluster is as it was reviewed, and free. Raises OverError where it is not as it was."""
        run = self._run
        steps = run.plan.steps[number : number + 1] if self._compared else run.plan.steps[number:]
        ground = preconditions.look(run.tools.asker, steps)
        if obstacle := preconditions.obstacle(run.intent, steps, ground):
            run.say(obstacle)
            return False
        run.say("")
        if wrong := _wrong(run, steps, own, ground):
            raise OverError(State.REFUSED, self._refused(number, wrong), number)
        self._compared = True
        return True

    def _why(self, number: int, own: Own, sentence: str) -> str:
        """What is other than reviewed, now that a multi was refused; else ZooKeeper's own word."""
        run, steps = self._run, self._run.plan.steps[number : number + 1]
        try:
            return _wrong(run, steps, own, preconditions.look(run.tools.asker, steps)) or sentence
        except OneShotError:
            return sentence

    def _refused(self, number: int, why: str) -> str:
        return f"Refused before step {self._run.at(number)}: {why} {self._run.so_far(number)}"

    def _marker(self, number: int) -> str:
        return f"{writing.APPLIED}/{markers.name(self._run.action, number)}"


def _wrong(run: Run, steps: Sequence[Step], own: Own, ground: Found) -> str:
    changed = " ".join(few(preconditions.differences(steps, own, ground)))
    return changed or preconditions.refusal(run.intent, steps, ground)
