"""Reads actions and the audit from the database, as plain values. Writes nothing.

Each call may come from a thread that lives long: it leaves no connection behind that has become unusable.
Raises UnavailableError where the database does not answer.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
from django import db

from zkdash.actions import documents, order
from zkdash.actions.models import Action, Audit, Step
from zkdash.actions.models import Author as AuthorRow
from zkdash.actions.reading.entries import (
    IN_FLIGHT,
    KEPT,
    AuditEntry,
    Author,
    Detail,
    Entry,
    News,
    StepEntry,
    UnavailableError,
)
from zkdash.actions.states import State, StepState
from zkdash.cluster.plans.values import Plan

MOST_AUDIT = 100
_SHORT = (
    "id",
    "revision",
    "cluster",
    "kind",
    "target",
    "state",
    "by",
    "requested_at",
    "user_id",
    "source",
    "reason",
    "needs_approval",
    "approved_by",
    "approved_at",
    "queued_at",
    "not_before",
    "repeat_s",
    "stop_wanted",
    "pause_wanted",
    "started_at",
    "ended_at",
    "result",
    "step",
)
_BEFORE_ITS_START = {State.PLANNED, State.PENDING, State.QUEUED}


class Search(msgspec.Struct, frozen=True):
    """Which lines of the audit are asked for, newest first: those with ids below `below`.

    `cluster` has those of one cluster. Empty and None leave the choice open.
    """

    cluster: str
    who: str = ""
    event: str = ""
    action: int | None = None
    below: int | None = None


def begin(clusters: Iterable[str]) -> News:
    """What is in flight, and the newest KEPT of the others, for each of the clusters."""
    with _reading():
        revision = order.revision()
        rows: list[dict[str, Any]] = []
        for cluster in clusters:
            of_cluster = Action.objects.filter(cluster=cluster)
            rows += of_cluster.filter(state__in=IN_FLIGHT).values(*_SHORT)
            rows += of_cluster.exclude(state__in=IN_FLIGHT).order_by("-id").values(*_SHORT)[:KEPT]
        return News(revision, _entries(rows))


def changed(since: int) -> News:
    """The actions of all clusters that changed after a revision: one indexed query where none did."""
    with _reading():
        rows = list(Action.objects.filter(revision__gt=since).order_by("revision").values(*_SHORT))
        return News(rows[-1]["revision"] if rows else since, _entries(rows))


def detail(cluster: str, number: int, earlier: Detail | None = None) -> Detail | None:
    """All of one action, None where the cluster has no such; the plan of a begun one is that of `earlier`."""
    with _reading():
        row = Action.objects.filter(cluster=cluster, id=number).values(*_SHORT, "before_id").first()
        if row is None:
            return None
        (entry,) = _entries([row])
        audit, more = _audit_of(number)
        has_plan = earlier is not None and earlier.plan is not None
        return Detail(
            entry=entry,
            steps=tuple(map(_step, Step.objects.filter(action_id=number).order_by("number"))),
            audit=audit,
            more_audit=more,
            plan=earlier.plan
            if earlier and has_plan and entry.state not in _BEFORE_ITS_START
            else _plan(number),
            origin=row["before_id"],
            followers=tuple(
                Action.objects.filter(before_id=number).order_by("id").values_list("id", flat=True)
            ),
            authors=tuple(
                Author(name, user_id)
                for name, user_id in AuthorRow.objects.filter(action_id=number).values_list("name", "user_id")
            ),
        )


def audit(search: Search, most: int) -> tuple[AuditEntry, ...]:
    """At most so many lines of the audit, newest first, by ranges of an index."""
    with _reading():
        entries = Audit.objects.filter(cluster=search.cluster).order_by("-id")
        if search.action is not None:
            entries = entries.filter(action=search.action)
        if search.who:
            entries = entries.filter(who=search.who)
        if search.event:
            entries = entries.filter(event=search.event)
        if search.below is not None:
            entries = entries.filter(id__lt=search.below)
        return tuple(map(_audit, entries[:most]))


def _audit_of(number: int) -> tuple[tuple[AuditEntry, ...], int]:
    """The newest lines about an action, and how many others there are."""
    about = Audit.objects.filter(action=number)
    shown = tuple(map(_audit, about.order_by("-id")[:MOST_AUDIT]))
    return shown, about.count() - len(shown) if len(shown) == MOST_AUDIT else 0


def _plan(number: int) -> Plan | None:
    """The plan, None where it is not made yet or is none that this release reads."""
    document = Action.objects.filter(id=number).values_list("plan", flat=True).first()
    try:
        return documents.plan(bytes(document or b""))
    except documents.DocumentError:
        return None


def _entries(rows: list[dict[str, Any]]) -> tuple[Entry, ...]:
    working = [row["id"] for row in rows if row["state"] in IN_FLIGHT]
    steps = _steps(working) if working else {}
    zxids = _zxids([row["id"] for row in rows]) if rows else {}
    return tuple(_entry(row, steps.get(row["id"], ()), zxids.get(row["id"], ())) for row in rows)


def _zxids(actions: list[int]) -> Mapping[int, tuple[int, ...]]:
    """By action, the transactions of its steps that were written."""
    zxids: dict[int, tuple[int, ...]] = {}
    written = Step.objects.filter(action_id__in=actions, zxid__isnull=False).order_by("action_id", "number")
    for action, zxid in written.values_list("action_id", "zxid"):
        if zxid is not None:
            zxids[action] = (*zxids.get(action, ()), zxid)
    return zxids


def _steps(actions: list[int]) -> Mapping[int, list[Step]]:
    steps: dict[int, list[Step]] = {}
    for step in Step.objects.filter(action_id__in=actions).defer("detail").order_by("action_id", "number"):
        steps.setdefault(step.action_id, []).append(step)
    return steps


def _entry(row: dict[str, Any], steps: Iterable[Step], zxids: tuple[int, ...]) -> Entry:
    steps = list(steps)
    under_way = next((step for step in steps if step.state != StepState.VERIFIED), None)
    return Entry(
        id=row["id"],
        revision=row["revision"],
        cluster=row["cluster"],
        kind=row["kind"],
        target=documents.unpack(row["target"]),
        state=State(row["state"]),
        by=row["by"],
        requested=_ms(row["requested_at"]) or 0,
        user_id=row["user_id"],
        source=row["source"],
        reason=row["reason"],
        needs_approval=row["needs_approval"],
        approved_by=row["approved_by"],
        approved=_ms(row["approved_at"]),
        queued=_ms(row["queued_at"]),
        not_before=_ms(row["not_before"]),
        repeat_s=row["repeat_s"],
        stop_wanted=row["stop_wanted"],
        pause_wanted=row["pause_wanted"],
        started=_ms(row["started_at"]),
        ended=_ms(row["ended_at"]),
        result=row["result"],
        step=sum(step.state == StepState.VERIFIED for step in steps),
        steps=len(steps),
        done=under_way.done if under_way else 0,
        total=under_way.total if under_way else 0,
        doing=under_way.title if under_way else "",
        zxids=zxids,
    )


def _step(step: Step) -> StepEntry:
    return StepEntry(
        number=step.number,
        title=step.title,
        state=StepState(step.state),
        intended=_ms(step.intended_at),
        applied=_ms(step.applied_at),
        verified=_ms(step.verified_at),
        zxid=step.zxid,
        done=step.done,
        total=step.total,
        sentence=step.sentence,
    )


def _audit(line: Audit) -> AuditEntry:
    return AuditEntry(
        id=line.id,
        at=_ms(line.at) or 0,
        who=line.who,
        event=line.event,
        cluster=line.cluster,
        action=line.action,
        step=line.step,
        path=documents.unpack(line.path),
        before=bytes(line.before).hex(),
        after=bytes(line.after).hex(),
        zxid=line.zxid,
        detail=bytes(line.detail).decode("utf-8", "replace"),
        hash=bytes(line.hash).hex(),
    )


def _ms(moment: datetime.datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


@contextmanager
def _reading() -> Iterator[None]:
    db.close_old_connections()
    try:
        yield
    except db.Error as error:
        raise UnavailableError(
            f"Actions cannot be read: zkdash’s database fails ({type(error).__name__})."
        ) from error
    finally:
        db.close_old_connections()
