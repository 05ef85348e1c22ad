"""The outbox: one row for each notice and each address that is told of it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q


class Delivery(models.Model):
    """One notice on its way to one address, kept for a while after it has ended.

    `event` is its kind ("action-ended"), `about` what it tells of ("action 42"), `sentence` one line for
    people, `body` the JSON that is sent. `target` names an address of the cluster's configuration without
    what may be secret in it. `key` stays the same however often it is tried. A worker that tries it first
    moves `next_at` on, so that no other tries it at the same time. `last_error` is one sentence.
    """

    event = models.CharField(max_length=40)
    cluster = models.CharField(max_length=63)
    about = models.CharField(max_length=100)
    sentence = models.CharField(max_length=300)
    body = models.BinaryField()
    target = models.CharField(max_length=300)
    key = models.CharField(max_length=32, unique=True)
    made_at = models.DateTimeField()
    next_at = models.DateTimeField()
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=300, blank=True, default="")
    ended_at = models.DateTimeField(null=True)
    is_taken = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes: ClassVar = [
            models.Index(fields=["next_at"], condition=Q(ended_at=None), name="deliveries_that_wait"),
            models.Index(fields=["ended_at"]),
            models.Index(fields=["cluster", "about"]),
        ]

    def __str__(self) -> str:
        how = "taken" if self.is_taken else "waiting" if self.ended_at is None else "given up"
        return f"{self.event} of {self.about} to {self.target}: {how}"
