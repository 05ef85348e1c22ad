"""One action being carried out: what its parts share, and the ways in which it stops being carried out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from zkdash.actions.execution import status_notes
from zkdash.actions.execution.lease import Clock, Lease
from zkdash.actions.models import Action
from zkdash.actions.states import State
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Plan
from zkdash.zk.reader.one_shot import OneShotReader
from zkdash.zk.writing.writer import Writer

# How often people's wishes are looked at; a stop must count within 2 s.
GLANCE_S = 0.5


class OverError(Exception):
    """The action ends so, or waits for a person; `number` is the step that is the reason.

    One that repeats is queued `again`, or not any more.
    """

    def __init__(self, state: State, sentence: str, number: int | None = None, *, again: bool = True) -> None:
        super().__init__(sentence)
        self.state, self.sentence, self.number, self.again = state, sentence, number, again


class LeavingError(Exception):
    """This process is to end: the action is given up as it stands, for another to go on."""


class Tools(NamedTuple):
    """What an action is carried out with. `leaving` is set when the process is to end."""

    asker: OneShotReader
    writer: Writer
    lease: Lease
    leaving: threading.Event
    clock: Clock
    notify: Callable[[str], None]


class Run:
    """See the module. `markers` tells whether the cluster allows znodes of our own."""

    def __init__(self, action: Action, intent: Intent, plan: Plan, tools: Tools, *, markers: bool) -> None:
        self.action, self.intent, self.plan, self.markers = action, intent, plan, markers
        self.tools = tools
        self.lease = tools.lease
        self._said: str | None = None

    def check(self, number: int) -> None:
        """Before step `number`: end where a person said stop, wait where one said pause."""
        while True:
            wanted = self.lease.wanted()
            if wanted.stop:
                raise OverError(
                    State.STOPPED, f"Stopped before step {self.at(number)}. {self.so_far(number)}"
                )
            if not wanted.pause:
                break
            self.wait(GLANCE_S)
        if self.tools.leaving.is_set():
            raise LeavingError

    def wait(self, seconds: float) -> None:
        """Wait, but not when the process is to end, and not for a lost action."""
        if self.tools.leaving.wait(seconds):
            raise LeavingError
        self.lease.wanted()

    def say(self, sentence: str) -> None:
        """Tell what is waited for; "" where it goes on."""
        if sentence != self._said:
            status_notes.say(self.action, sentence)
            self._said = sentence
            self.told()

    def told(self) -> None:
        """The queue has changed."""
        self.tools.notify(self.action.cluster)

    def at(self, number: int) -> str:
        """ "2 of 5", counted from 1."""
        return f"{number + 1} of {len(self.plan.steps)}"

    def so_far(self, number: int) -> str:
        """What was carried out before step `number`, and what of it stays behind."""
        if not number:
            return "Nothing was written."
        sentence = f"Step 1 of {len(self.plan.steps)} was carried out."
        if number > 1:
            sentence = f"Steps 1 to {number} of {len(self.plan.steps)} were carried out."
        writes = [write for step in self.plan.steps[:number] for write in step.writes]
        set_, removed = (
            {write.path for write in writes if write.edit and getattr(write.edit, part)}
            for part in ("put", "drop")
        )
        return f"{sentence} The throttle that was set stays: clear it." if set_ - removed else sentence
