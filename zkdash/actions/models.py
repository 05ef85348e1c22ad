"""The queue's tables: actions with their steps, and the audit.

Intents and plans are kept as msgspec's JSON bytes (`documents`), in binary columns: names that come from
ZooKeeper may hold what a database's text does not take.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from zkdash.actions.states import OCCUPYING, State, StepState


class Action(models.Model):
    """One thing that somebody wants done to one cluster.

    Times are UTC. `intent` and `plan` are JSON bytes of `cluster.plans`. `by` is who asked for it: who
    proposed it, then who submitted it. `by` and `approved_by` keep the name beside the user, who may be
    deleted. `not_before` holds a queued action back; `repeat_s` queues a new action of the same intent once
    this one has ended, for the next of its times (`repeats`), planned anew when it is due.
    `fence` grows with every claim, so that a worker whose lease ran out writes nothing more into these rows.
    `step` is the number of the step that comes next. `result` is one sentence about how it ended or what
    it waits for. `revision` grows with every change of the action or of a step, over all actions.
    """

    id = models.BigAutoField(primary_key=True)
    cluster = models.CharField(max_length=63)
    kind = models.CharField(max_length=40)
    target = models.BinaryField(default=b"")  # documents.pack: may hold NUL, lone surrogates
    intent = models.BinaryField()
    plan = models.BinaryField(default=b"")
    state = models.CharField(max_length=12, choices=[(s, s) for s in State], default=State.PLANNED)
    reason = models.TextField(blank=True, default="")
    source = models.CharField(max_length=12, default="web")  # web, command, repeat, undo, finding

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    by = models.CharField(max_length=200)
    requested_at = models.DateTimeField()
    needs_approval = models.BooleanField(default=False)
    approver = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    approved_by = models.CharField(max_length=200, blank=True, default="")
    approved_at = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)
    repeat_s = models.PositiveIntegerField(null=True)
    before = models.ForeignKey("self", models.SET_NULL, null=True, related_name="after")

    stop_wanted = models.BooleanField(default=False)
    pause_wanted = models.BooleanField(default=False)
    fence = models.PositiveIntegerField(default=0)
    owner = models.CharField(max_length=120, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    step = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    result = models.TextField(blank=True, default="")
    revision = models.BigIntegerField(default=0, db_index=True)

    class Meta:
        constraints: ClassVar = [
            # Kafka's controller takes one trigger at a time, and two plans would not know of each other.
            models.UniqueConstraint(
                fields=["cluster"], condition=Q(state__in=OCCUPYING), name="one_action_a_cluster"
            )
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "state", "queued_at"])]

    def __str__(self) -> str:
        return f"{self.id} {self.kind} on {self.cluster}: {self.state}"


class Author(models.Model):
    """Who had a hand in an action's plan: none of them approves it, whoever submits it.

    `name` is kept beside the user, who may be deleted or renamed.
    """

    action = models.ForeignKey(Action, models.CASCADE, related_name="authors")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    name = models.CharField(max_length=200)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.name} planned {self.action_id}"


class Step(models.Model):
    """One multi of an action's plan: what became of it.

    `zxid` is the transaction that applied it (its marker's czxid). `done` of `total` is how far its goal is,
    `detail` JSON bytes of what the page shows of it (partitions, rate).
    """

    action = models.ForeignKey(Action, models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField()
    title = models.TextField()
    state = models.CharField(max_length=12, choices=[(s, s) for s in StepState], default=StepState.WAITING)
    intended_at = models.DateTimeField(null=True)
    applied_at = models.DateTimeField(null=True)
    verified_at = models.DateTimeField(null=True)
    zxid = models.BigIntegerField(null=True)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    sentence = models.TextField(blank=True, default="")
    detail = models.BinaryField(default=b"")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["action", "number"], name="a_step_is_numbered_once")
        ]
        ordering: ClassVar = ["number"]

    def __str__(self) -> str:
        return f"{self.action_id}.{self.number} {self.title}: {self.state}"


class Order(models.Model):
    """The one row that every change takes first (`order`): the last revision, the last row of the audit.

    `audit` and `hash` are the id and the hash of the audit's last row.
    """

    id = models.PositiveSmallIntegerField(primary_key=True)
    revision = models.BigIntegerField(default=0)
    audit = models.BigIntegerField(default=0)
    hash = models.BinaryField(default=b"")

    def __str__(self) -> str:
        return f"revision {self.revision}, audit {self.audit}"


class Audit(models.Model):
    """What happened, in order, never changed: the database refuses UPDATE and DELETE by triggers.

    `hash` covers the row and `previous`, the hash of the row before, so that a change or a gap shows.
    `before` and `after` are SHA-256 of a written znode's data, `zxid` its transaction. `detail` is JSON.
    """

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField()
    who = models.CharField(max_length=200)
    event = models.CharField(max_length=40)
    cluster = models.CharField(max_length=63, blank=True, default="")
    action = models.BigIntegerField(null=True)  # no foreign key: the audit outlives what it tells of
    step = models.PositiveIntegerField(null=True)
    path = models.BinaryField(default=b"")
    before = models.BinaryField(default=b"")
    after = models.BinaryField(default=b"")
    zxid = models.BigIntegerField(null=True)
    detail = models.BinaryField(default=b"")
    previous = models.BinaryField()
    hash = models.BinaryField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["cluster", "id"]), models.Index(fields=["action"])]

    def __str__(self) -> str:
        return f"{self.id} {self.event} by {self.who}"
