"""The review of a plan: what would be written, step by step, in words and as frozen values.

Shown on the page of an action. However large the plan, the review stays small: what is left out is counted,
and the plan's JSON has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Final

import msgspec
from django.template.defaultfilters import filesizeformat

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import intents, moves, registry
from zkdash.cluster.plans.values import Copied, Edit, Plan, Step, Write
from zkdash.kafka import secrets
from zkdash.kafka.values import Move
from zkdash.live.departures import Departures
from zkdash.web.actions import changes, placed, review_pages, review_words
from zkdash.web.actions.changes import ValueChanges
from zkdash.web.actions.foreseen import Told
from zkdash.web.actions.placed import Placed
from zkdash.web.actions.review_pages import Pages
from zkdash.web.frame import listing
from zkdash.web.frame.cells import grouped
from zkdash.web.frame.listing import Pager
from zkdash.web.frame.panels import diffs
from zkdash.web.frame.panels.diffs import Line
from zkdash.znode import Operation

MOST_STEPS: Final = 50
MOST_WRITES: Final = 40
MOST_SHIFTS: Final = 100
_OPEN: Final = 3
_WRITES_EACH: Final = 2
_LINES_EACH: Final = 40
_LINES_ALL: Final = 300
_BROKERS: Final = 10


class Written(msgspec.Struct, frozen=True):
    """One write: `operation` and `expected` in words. `note` tells why the data is not shown whole."""

    path: str
    operation: str
    expected: str
    lines: tuple[Line, ...]
    note: str = ""
    undo: str = ""


class Compared(msgspec.Struct, frozen=True):
    """A znode that is not written, whose version must be this one still."""

    path: str
    version: int


class Part(msgspec.Struct, frozen=True):
    """A step. `then` is what it waits for, `next` what Kafka does about it, `more` the writes left out.

    `guard` explains writes that change nothing, "" where there are none.
    """

    number: int
    title: str
    then: str
    next: tuple[str, ...]
    writes: tuple[Written, ...]
    compared: tuple[Compared, ...]
    more: int
    is_open: bool
    guard: str = ""


class Shift(msgspec.Struct, frozen=True):
    """A partition that gets other replicas. `before` is None where nobody can tell it any more."""

    topic: str
    partition: int
    before: tuple[int, ...] | None
    after: tuple[int, ...]
    new: tuple[int, ...]
    dropped: tuple[int, ...]
    leader: str


class Review(msgspec.Struct, frozen=True):
    """A plan for people. `numbers` are (label, value), `undo` is a sentence, `confirm` what is to be typed.

    `shifts` are a page of `shifted` partitions, `changes` of what becomes another value, `parts` of `steps`
    steps, each with its pages.
    `foreseen` is what it would do to the findings, None where nobody can tell any more,
    `placed` where the replicas are before and after.
    """

    what: str
    target: str
    refusals: tuple[str, ...]
    warnings: tuple[str, ...]
    numbers: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
    steps: int
    shifts: tuple[Shift, ...]
    shifted: int
    undo: str
    confirm: str | None
    foreseen: Told | None = None
    changes: ValueChanges = ValueChanges()
    placed: tuple[Placed, ...] = ()
    shift_pages: Pager | None = None
    value_pages: Pager | None = None
    step_pages: Pager | None = None


def of(
    plan: Plan,
    state: ClusterState | None = None,
    foreseen: Told | None = None,
    departed: Departures | None = None,
    at: Pages | None = None,
) -> Review:
    """The review of a plan, at one page of each list that is long: the first, without a way to others,
    unless `at` names one.

    `state`, where the plan is not begun yet, tells the replicas as they are, where the plan itself does not;
    only then they are drawn, and `departed` tells where brokers that are gone were.
    """
    shifted = moves.of(plan)
    pages = at or review_pages.FIRST
    cut = listing.cut(len(shifted), pages.partitions, MOST_SHIFTS)
    replicas = moves.before(plan, shifted[cut.place], state)
    shifts = tuple(_shift(move, replicas.get((move.topic, move.partition))) for move in shifted[cut.place])
    steps = listing.cut(len(plan.steps), pages.written, MOST_STEPS)
    values = changes.of(plan, pages.values)
    return Review(
        what=registry.title(plan.kind),
        target=plan.target,
        refusals=plan.refusals,
        warnings=plan.warnings,
        numbers=_numbers(plan),
        parts=_parts(plan.steps[steps.place], steps.first),
        steps=len(plan.steps),
        shifts=shifts,
        shifted=len(shifted),
        placed=() if state is None else placed.of(shifts, state, departed or {}),
        undo=_undo(plan),
        confirm=plan.confirm,
        foreseen=foreseen,
        changes=values,
        shift_pages=at.pager("partitions", cut) if at else None,
        value_pages=at.pager("values", listing.cut(values.total, at.values, changes.MOST)) if at else None,
        step_pages=at.pager("written", steps) if at else None,
    )


def _parts(steps: tuple[Step, ...], before: int) -> tuple[Part, ...]:
    """Some of the steps, of which so many stand `before` them.

    Where all writes are too many, each step shows its first ones: the last may be what matters.
    """
    parts, lines = [], _LINES_ALL
    total = sum(write.operation is not Operation.CHECK for step in steps for write in step.writes)
    most = MOST_WRITES if total <= MOST_WRITES else max(_WRITES_EACH, MOST_WRITES // len(steps))
    for number, step in enumerate(steps, before + 1):
        kept = [write for write in step.writes if write.operation is not Operation.CHECK]
        shown = []
        for write in kept[:most]:
            shown.append(_written(write, max(0, min(lines, _LINES_EACH))))
            lines -= len(shown[-1].lines)
        parts.append(
            Part(
                number=number,
                title=step.title,
                then=review_words.waits_for(step.goal),
                next=review_words.what_follows(step.writes),
                writes=tuple(shown),
                compared=tuple(
                    Compared(write.path, write.expected or 0)
                    for write in step.writes
                    if write.operation is Operation.CHECK
                )[:MOST_WRITES],
                more=len(kept) - len(shown),
                is_open=number <= before + _OPEN,
                guard=review_words.guard(kept),
            )
        )
    return tuple(parts)


def _written(write: Write, most: int) -> Written:
    # the plan has masked what is secret; what a plan of elsewhere forgot is masked here
    before, after = (secrets.redact(write.path, data) for data in (write.before, write.after))
    return Written(
        path=write.path,
        operation=review_words.operation(write),
        expected=review_words.expected(write),
        lines=diffs.lines(before, after, most),
        note=_note(write.edit, before, after),
        undo=write.undo,
    )


def _note(edit: Edit | None, *shown: bytes | None) -> str:
    """What is hidden, where anything is, and what of it is changed all the same."""
    if not any(secrets.HIDDEN.encode() in data for data in shown if data):
        return ""
    if edit is None:
        return "Values that may be secret are hidden here."
    named = ", ".join((*(f"{name} = {value}" for name, value in edit.put.items()), *edit.drop))
    return f"Values that may be secret are hidden here and stay as they are. Only these change: {named}."


def _shift(move: Move, before: tuple[int, ...] | None) -> Shift:
    after = move.replicas
    new = () if before is None else tuple(broker for broker in after if broker not in before)
    dropped = () if before is None else tuple(broker for broker in before if broker not in after)
    leader = ""
    if before and before[0] != after[0]:
        leader = f"{before[0]} → {after[0]}"
    return Shift(move.topic, move.partition, before, after, new, dropped, leader)


def _numbers(plan: Plan) -> tuple[tuple[str, str], ...]:
    effect = plan.effect
    numbers = (
        ("Topics", effect.topics),
        ("Partitions", effect.partitions),
        ("Replicas copied", effect.replicas_moved),
        ("Replicas dropped", effect.replicas_removed),
        ("Preferred leaders changed", effect.leaders_moved),
        (f"{effect.unit.capitalize()} read again, at most", effect.read_again),
        (f"{effect.unit.capitalize()} skipped, at most", effect.skipped),
        ("Znodes written", effect.znodes),
        ("Steps", len(plan.steps)),
    )
    sizes = (("Bytes written", effect.written), ("Largest znode, bytes", effect.largest))
    counted = tuple((label, grouped(number)) for label, number in (*numbers, *sizes) if number)
    return (*counted, *(() if effect.copied is None else _copied(effect.copied)))


def _copied(copied: Copied) -> Iterator[tuple[str, str]]:
    """What moves copy, in all and to each broker, as far as anybody told."""
    if copied.to:
        yield "Copied", filesizeformat(sum(copied.to.values()))
    for broker, size in sorted(copied.to.items(), key=itemgetter(1), reverse=True)[:_BROKERS]:
        yield f"Copied to broker {broker}", filesizeformat(size)
    if copied.unknown:
        copies = f"{grouped(copied.unknown)} {'copy' if copied.unknown == 1 else 'copies'}"
        yield "Of unknown size", f"{copies}: {copied.why}"


def _undo(plan: Plan) -> str:
    if plan.refusals:
        return ""
    if plan.inverse is not None:
        back = registry.title(intents.kind(plan.inverse))
        return f"Once it is done, its page proposes the way back: {back}."
    return "Nothing puts it back as it was."
