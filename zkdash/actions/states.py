"""The states of an action and of its steps, and which of them end."""

from __future__ import annotations

import enum


class State(enum.StrEnum):
    """Where an action stands.

    planned: a plan to be reviewed, a dry run so far. pending: waits for a second person. queued: waits for
    its turn or its time. running: a worker writes its steps. verifying: everything is written, Kafka has yet
    to carry it out. done: the last goal was seen, or a repeated one found nothing to do. failed: a step or
    its goal failed. refused: the cluster is no longer as it was reviewed, nothing further was written.
    stopped: by a person, before the next step; or a dry run that nobody submitted (`expiry`). unknown: a
    write whose fate nobody can tell; waits for a person.
    """

    PLANNED = "planned"
    PENDING = "pending"
    QUEUED = "queued"
    RUNNING = "running"
    VERIFYING = "verifying"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    STOPPED = "stopped"
    UNKNOWN = "unknown"

    @property
    def is_active(self) -> bool:
        """Whether a worker holds it: one a cluster at a time."""
        return self in {State.RUNNING, State.VERIFYING}

    @property
    def has_ended(self) -> bool:
        return self in ENDED


ENDED = frozenset({State.DONE, State.FAILED, State.REFUSED, State.STOPPED})
# What keeps a cluster busy: `unknown` does too, until a person has settled it.
OCCUPYING = (State.RUNNING, State.VERIFYING, State.UNKNOWN)


class StepState(enum.StrEnum):
    """Where a step stands.

    waiting: untouched. intended: the intent row is committed, the multi may have been sent. applied: its
    marker or its answer was seen. verified: its goal was reached. failed, refused: see the sentence.
    unknown: intended, and nobody can tell whether it was applied.
    """

    WAITING = "waiting"
    INTENDED = "intended"
    APPLIED = "applied"
    VERIFIED = "verified"
    FAILED = "failed"
    REFUSED = "refused"
    UNKNOWN = "unknown"
