"""One order of all changes: what the queue and the audit write is written by one transaction after another.

Each transaction first takes the one row of `Order` and holds it until it has committed. So no reader who has
seen a revision can later be shown a lower one, and the audit's chain cannot fork. SQLite has one writer
anyway (BEGIN IMMEDIATE); PostgreSQL locks the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import F, Max

from zkdash.actions.models import Action, Audit, Order

_ROW = 1


@contextmanager
def change() -> Iterator[int]:
    """A transaction of its own, committed at the end of the block; gives its revision.

    Raises RuntimeError inside of another transaction: what is told as written must be.
    """
    with transaction.atomic(durable=True):
        yield _next()


def hold() -> Order:
    """The row as it is, nobody else's until the end of the transaction around the call."""
    while True:
        row = Order.objects.select_for_update().filter(pk=_ROW).first()
        if row is not None:
            return row
        _make()


def revision() -> int:
    """The highest revision that has been given."""
    return Order.objects.filter(pk=_ROW).values_list("revision", flat=True).first() or 0


def _next() -> int:
    while not Order.objects.filter(pk=_ROW).update(revision=F("revision") + 1):
        _make()
    return Order.objects.values_list("revision", flat=True).get(pk=_ROW)


def anew() -> Order:
    """The row of an empty database, or of one that lost it: it goes on from what is there. Not written."""
    last = Audit.objects.order_by("-id").first()
    highest = Action.objects.aggregate(highest=Max("revision"))["highest"] or 0
    return Order(
        pk=_ROW,
        revision=highest,
        audit=last.id if last else 0,
        hash=bytes(last.hash) if last else b"",
    )


def _make() -> None:
    Order.objects.bulk_create([anew()], ignore_conflicts=True)
