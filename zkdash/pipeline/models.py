"""The runs of jobs, as rows that every process sees."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q


class State(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Run(models.Model):
    """One run of a job over one cluster's tables. Times are UTC.

    `by` is who asked for it: a person's name, "command" or "schedule". `rows` is what it wrote, `problems`
    what it could not read, `zxid_upto` the last transaction that the tables hold after it. `progress` is
    percent. `sentence` says what it does, or how it ended. `seen_at` is when its process last told that it
    lives.
    `metrics` is JSON: seconds, rows and files a table, and `lag_ms` behind the source.
    """

    id = models.BigAutoField(primary_key=True)
    cluster = models.CharField(max_length=63)
    job = models.CharField(max_length=20)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    by = models.CharField(max_length=200)
    queued_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    rows = models.BigIntegerField(default=0)
    problems = models.BigIntegerField(default=0)
    zxid_upto = models.BigIntegerField(null=True)
    progress = models.PositiveSmallIntegerField(default=0)
    sentence = models.TextField(blank=True, default="")
    metrics = models.JSONField(default=dict)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster"],
                condition=Q(state=State.RUNNING) & ~Q(job="stream"),
                name="one_run_a_cluster",
            ),
            models.UniqueConstraint(
                fields=["cluster"],
                condition=Q(state=State.RUNNING, job="stream"),
                name="one_stream_a_cluster",
            ),
            models.UniqueConstraint(
                fields=["cluster", "job"], condition=Q(state=State.QUEUED), name="a_job_is_queued_once"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "-id"])]

    def __str__(self) -> str:
        return f"{self.id} {self.job} of {self.cluster}: {self.state}"
