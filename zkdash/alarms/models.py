"""The tables of alarms: each occurrence of a finding, who took note of it, and what was told of it last."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q


class Occurrence(models.Model):
    """One time that a check failed, from when it was first seen until it passed.

    Times are UTC. Cluster, check and `number`, which counts from 1, name it for good. `first_seen` is since
    when it holds, as the znodes tell or as it was seen; `opened_at` when it was written here. `severity` and
    `sentence` are the finding's as it was then.
    """

    id = models.BigAutoField(primary_key=True)
    cluster = models.CharField(max_length=63)
    check_id = models.CharField(max_length=8)
    number = models.PositiveIntegerField()
    first_seen = models.DateTimeField()
    opened_at = models.DateTimeField()
    cleared_at = models.DateTimeField(null=True)
    severity = models.CharField(max_length=8)
    sentence = models.TextField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "check_id"], condition=Q(cleared_at=None), name="a_finding_stands_once"
            ),
            models.UniqueConstraint(
                fields=["cluster", "check_id", "number"], name="an_occurrence_is_numbered_once"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "opened_at"])]

    def __str__(self) -> str:
        return f"{self.cluster}/{self.check_id}/{self.number}"


class Acknowledgement(models.Model):
    """Somebody knows of an occurrence and says why it need not lead, and be sent, for now.

    `covers` is JSON bytes (`actions.documents`): how often each cause did it then, by its name. `whole` tells
    that the check was meant, and not some of its causes; `severity` was the worst of what is covered. `until`
    is None for as long as the finding stands. `ended_why` is a sentence.
    """

    id = models.BigAutoField(primary_key=True)
    occurrence = models.ForeignKey(Occurrence, models.CASCADE, related_name="acknowledgements")
    by = models.CharField(max_length=200)
    at = models.DateTimeField()
    reason = models.TextField()
    until = models.DateTimeField(null=True)
    whole = models.BooleanField()
    covers = models.BinaryField()
    severity = models.CharField(max_length=8)
    ended_at = models.DateTimeField(null=True)
    ended_why = models.TextField(blank=True, default="")

    def __str__(self) -> str:
        return f"{self.occurrence} by {self.by}"


class Notice(models.Model):
    """What was told last of a check of a cluster: one row, whose change decides which process tells.

    `stands` is whether it was told that it fails, and not yet that it passes again; `number` the occurrence,
    `appeared_at` when it was told last that it fails.
    """

    id = models.BigAutoField(primary_key=True)
    cluster = models.CharField(max_length=63)
    check_id = models.CharField(max_length=8)
    stands = models.BooleanField(default=False)
    number = models.PositiveIntegerField(default=0)
    appeared_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "check_id"], name="a_check_is_noticed_once")
        ]

    def __str__(self) -> str:
        return f"{self.cluster}/{self.check_id}/{self.number}: {'stands' if self.stands else 'cleared'}"
