"""The audit: who did what, when, to which znode, as a chain of hashes that shows what was tampered with.

A row's hash is SHA-256 over the hash of the row before and the row's canonical bytes: a JSON array, ASCII,
without spaces, of id, time (ISO 8601, UTC, microseconds), who, event, cluster, action, step, then path,
before, after as hexadecimal digits, zxid, and detail as hexadecimal digits. The first row's "hash before" is
empty. Ids have no gaps. Data of znodes never enter, only their SHA-256; of a secret path that of the masked
data, so that nobody can try passwords against it.

What the chain promises: a row that was changed, taken out or put in is found, by whoever walks it. Who may
write into the database and knows this module can forge a new chain from some row on, or cut its tail, and no
database can tell. That shows only against an anchor: an id with its hash, kept somewhere else (`manage.py
audit verify` prints the last, and takes one with `--anchor`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC

import msgspec
from django.db import transaction
from django.db.models import Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from zkdash.actions import documents, order
from zkdash.actions.actor import Actor
from zkdash.actions.models import Audit, Order
from zkdash.kafka import secrets

BATCH = 1_000


class Entry(msgspec.Struct, frozen=True):
    """What is told of one event. `before` and `after` are the data of a znode, None where there are none."""

    event: str
    cluster: str = ""
    action: int | None = None
    step: int | None = None
    path: str = ""
    before: bytes | None = None
    after: bytes | None = None
    zxid: int | None = None
    detail: object = None


class Anchor(msgspec.Struct, frozen=True):
    """A row's id and its hash in hexadecimal digits, as kept outside of the database."""

    id: int
    hash: str


class Verdict(msgspec.Struct, frozen=True):
    """What a walk over the chain found: how many rows are whole, and the last of them, to keep as an anchor.

    `broken` is the id of the first row that is not as it was written, or missing; None where all are.
    """

    rows: int
    last: Anchor
    broken: int | None
    sentence: str


def append(
    event: str,
    who: Actor,
    *,
    cluster: str = "",
    action: int | None = None,
    step: int | None = None,
    path: str = "",
    before: bytes | None = None,
    after: bytes | None = None,
    zxid: int | None = None,
    detail: object = None,
) -> int:
    """Append one row and return its id; within the caller's transaction, if there is one.

    `before` and `after` are data, hashed here; `detail` is anything made of what JSON has, without secrets.
    """
    entry = Entry(event, cluster, action, step, path, before, after, zxid, detail)
    return extend([entry], who)


def extend(entries: Iterable[Entry], who: Actor) -> int:
    """Append rows in one transaction and return the last one's id."""
    with transaction.atomic():
        head = order.hold()
        last, previous, at = head.audit, bytes(head.hash), timezone.now()
        rows = []
        for last, entry in enumerate(entries, last + 1):  # noqa: B020 - goes on from the row held
            row = Audit(
                id=last,
                at=at,
                who=documents.text(who.name, 200),
                event=entry.event,
                cluster=entry.cluster,
                action=entry.action,
                step=entry.step,
                path=documents.pack(entry.path),
                before=_hash(entry.path, entry.before),
                after=_hash(entry.path, entry.after),
                zxid=entry.zxid,
                detail=b"" if entry.detail is None else documents.encode(entry.detail),
                previous=previous,
            )
            row.hash = previous = digest(row)
            rows.append(row)
        Audit.objects.bulk_create(rows, batch_size=BATCH)
        Order.objects.filter(pk=head.pk).update(audit=last, hash=previous)
        return last


def digest(row: Audit) -> bytes:
    """The hash that a row must have, from its own `previous`."""
    fields: Sequence[object] = (
        row.id,
        row.at.astimezone(UTC).isoformat(timespec="microseconds"),
        row.who,
        row.event,
        row.cluster,
        row.action,
        row.step,
        bytes(row.path).hex(),
        bytes(row.before).hex(),
        bytes(row.after).hex(),
        row.zxid,
        bytes(row.detail).hex(),
    )
    canonical = json.dumps(fields, separators=(",", ":")).encode()
    return hashlib.sha256(bytes(row.previous) + canonical).digest()


def rows(after: int = 0, up_to: int | None = None) -> Iterator[Audit]:
    """All rows in order, a batch a query, so that millions neither fill the memory nor hold a cursor."""
    while True:
        entries = Audit.objects.filter(id__gt=after).order_by("id")
        batch = list((entries if up_to is None else entries.filter(id__lte=up_to))[:BATCH])
        yield from batch
        if len(batch) < BATCH:
            return
        after = batch[-1].id


def verify(anchor: Anchor | None = None) -> Verdict:
    """Walk the chain from its first row to the last one there was when it began.

    Finds the first row that was changed, is missing, was put in, or was cut off while `Order` still tells
    of it. A tail that was cut off together with its trace in `Order`, and a chain forged from some row on,
    are found only with an `anchor` from before.
    """
    head = Order.objects.first() or order.anew()
    end = Anchor(head.audit, bytes(head.hash).hex())
    last = Anchor(0, "")
    for row in rows(up_to=end.id):
        if fault := _fault(row, last, anchor):
            return Verdict(last.id, last, *fault)
        last = Anchor(row.id, bytes(row.hash).hex())
    fault = _fault_of_end(last, end, anchor)
    return Verdict(last.id, last, *(fault or (None, f"The chain of {last.id} rows is whole.")))


def _fault(row: Audit, last: Anchor, anchor: Anchor | None) -> tuple[int, str] | None:
    """What is wrong with the row behind `last`, and with which."""
    due = last.id + 1
    if row.id != due:
        return due, f"Row {due} is missing."
    if bytes(row.previous).hex() != last.hash:
        return due, f"Row {due} does not follow row {last.id}: one of them was changed."
    if bytes(row.hash) != digest(row):
        return due, f"Row {due} was changed."
    if anchor and anchor.id == due and anchor.hash != bytes(row.hash).hex():
        return due, f"Row {due} is not the one of the anchor: the chain was written anew up to there."
    return None


def _fault_of_end(last: Anchor, end: Anchor, anchor: Anchor | None) -> tuple[int, str] | None:
    """What is wrong behind the last row that was found."""
    due = last.id + 1
    if last.id < end.id:
        return due, f"The rows from {due} to {end.id} are missing."
    if last != end:
        return last.id, f"Row {last.id} is not the one that was written last."
    if anchor and anchor.id > last.id:
        return due, f"The rows from {due} to {anchor.id} of the anchor are missing."
    if last.id and not Order.objects.exists():
        return last.id, (
            f"The chain of {last.id} rows is whole, but nothing tells that row {last.id} was written last: "
            "the row of the table actions_order is missing, and what was cut off behind it is not found "
            "without an anchor."
        )
    if stray := _stray():
        return stray, f"Row {stray} was put in from outside."
    return None


def _stray() -> int | None:
    """A row behind the one that was written last. Asked in one statement, as others append meanwhile."""
    last = Coalesce(Subquery(Order.objects.order_by("pk").values("audit")[:1]), 0)
    return Audit.objects.filter(id__gt=last).order_by("id").values_list("id", flat=True).first()


def _hash(path: str, data: bytes | None) -> bytes:
    """SHA-256 of what may be known of a znode's data; empty where there are none."""
    shown = secrets.redact(path, data)
    return b"" if shown is None else hashlib.sha256(shown).digest()
