"""What a trial found, and how trials run: side by side, each for so long and no longer."""

from __future__ import annotations

import enum
import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

LIMIT_S: Final = 20.0


class State(enum.Enum):
    """How it is with one subject; only WRONG keeps zkdash from doing what it is configured for."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    UNUSED = "unused"  # nothing of it is configured


class Finding(msgspec.Struct, frozen=True):
    """One line: about what, how it is, what is so, and what to do ("" where nothing is to be done)."""

    subject: str
    state: State
    sentence: str
    remedy: str = ""


class Trial(msgspec.Struct, frozen=True):
    """What is tried, and the function that does it."""

    subject: str
    run: Callable[[], Sequence[Finding]]


def run(trials: Iterable[Trial], limit_s: float = LIMIT_S) -> list[Finding]:
    """What all of them find, in their order. One that does not end within `limit_s` is itself a finding.

    Its thread is left behind: it ends with the process.
    """
    running = [_Running(trial) for trial in trials]
    deadline = time.monotonic() + limit_s
    return [finding for each in running for finding in each.wait(deadline, limit_s)]


def as_line(finding: Finding) -> str:
    """The state, the subject, what is so and what to do."""
    return f"{finding.state.value:8}{finding.subject}: {finding.sentence} {finding.remedy}".rstrip()


def as_json(findings: list[Finding]) -> str:
    """`{"ok": bool, "findings": [{"subject", "state", "sentence", "remedy"}]}`."""
    is_ok = all(finding.state is not State.WRONG for finding in findings)
    return json.dumps({"ok": is_ok, "findings": msgspec.to_builtins(findings)}, indent=1)


class _Running:
    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._findings: Sequence[Finding] | None = None
        self._thread = threading.Thread(target=self._run, name=f"verify {trial.subject}", daemon=True)
        self._thread.start()

    def wait(self, deadline: float, limit_s: float) -> Sequence[Finding]:
        self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._findings is not None:
            return self._findings
        sentence = f"It did not answer within {limit_s:g} s."
        return [Finding(self._trial.subject, State.WRONG, sentence, "See that it runs and can be reached.")]

    def _run(self) -> None:
        try:
            self._findings = self._trial.run()
        except Exception as error:
            sentence = f"Trying it failed: {type(error).__name__}: {' '.join(str(error).split())}."
            self._findings = [Finding(self._trial.subject, State.WRONG, sentence, "Report this.")]
