"""A worker of the tests, whose ZooKeeper is a directory: a multi with its marker is a file made exclusively.

As a process of its own (`PROCESS`, with OWNER DIRECTORY SKEW_S LEASE_S CLUSTER…) it works until every action
has ended, by a clock that is wrong by SKEW_S, and prints how many times it found that it had lost an action.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from zkdash.actions.execution import leasing
from zkdash.actions.models import Action
from zkdash.actions.states import ENDED, State, StepState

PROCESS = (
    sys.executable,
    "-c",
    "import django; django.setup(); from tests.actions import working; working.main()",
)


class Worker:
    """Carries out actions as the executor does: intent, write with marker, applied, verified, end."""

    def __init__(self, owner: str, directory: Path, skew_s: float, lease_s: float) -> None:
        self.owner = owner
        self.directory = directory
        self.skew = timedelta(seconds=skew_s)
        self.lease_s = lease_s
        self.lost = 0

    def begin(self, clusters: Sequence[str]) -> Action:
        """Take an action, say what is to be written, and go no further: as if it was killed there."""
        held = leasing.claim(clusters, self.owner, self.lease_s, self._now())
        assert held is not None
        assert leasing.intend(held, held.step, self._now())
        return held

    def run(self, clusters: Sequence[str]) -> int:
        while Action.objects.exclude(state__in=ENDED).exists():
            held = leasing.claim(clusters, self.owner, self.lease_s, self._now())
            if held is not None and not self.carry_out(held):
                self.lost += 1
        return self.lost

    def carry_out(self, held: Action) -> bool:
        """From where it stands to its end; False where it was lost on the way."""
        for step in list(held.steps.filter(number__gte=held.step)):
            if step.state in {StepState.WAITING, StepState.INTENDED}:
                if not leasing.intend(held, step.number, self._now()):
                    return False
                self.write(f"{held.id}-{step.number}")
                if not leasing.applied(held, step.number, step.number, (), self._now()):
                    return False
            if not leasing.verified(held, step.number, self._now()):
                return False
        return leasing.end(held, State.DONE, f"by {self.owner}", self._now())

    def write(self, marker: str) -> None:
        """Once, however often it is tried: "x" fails where the marker is."""
        try:
            with (self.directory / marker).open("x") as file:
                file.write(self.owner)
        except FileExistsError:
            return

    def _now(self) -> datetime:
        return datetime.fromtimestamp(time.time()).astimezone() + self.skew


def main() -> None:
    owner, directory, skew_s, lease_s, *clusters = sys.argv[1:]
    lost = Worker(owner, Path(directory), float(skew_s), float(lease_s)).run(clusters)
    sys.stdout.write(f"{lost}\n")
