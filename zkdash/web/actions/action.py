"""Action: one action with its review or its progress, what can be done about it, and its audit."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from zkdash.access.roles import Right, Role
from zkdash.actions.queue.transitions import Verb, can
from zkdash.actions.reading import reader
from zkdash.actions.reading.entries import Detail, Entry, StepEntry, UnavailableError
from zkdash.actions.states import State, StepState
from zkdash.cluster.foresight import Foresight
from zkdash.cluster.model.tone import Tone
from zkdash.cluster.plans.goals import Assigned
from zkdash.cluster.plans.watching import Stage, Watched
from zkdash.live import engine
from zkdash.live.parts import Block, PageKey, Part
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions import actions, audit_rows, facts, foreseen, review
from zkdash.web.actions import cells as action_cells
from zkdash.web.actions.facts import MOST_MOVES, Head
from zkdash.web.frame import cells, links, page, row_selection, shapes, tables
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty

NAME = "action"
_LARGEST_ID = (1 << 63) - 1


class Button(msgspec.Struct, frozen=True):
    """Something that can be asked for now."""

    verb: str
    label: str
    href: str


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """The page as the database has it now, with the review."""
    number = int(key.args[0])
    if number > _LARGEST_ID:
        return _gone(number, f"There is no action {number} of this cluster.")
    known = engine.polled().queue.detail(snapshot.cluster, number)
    try:
        found = reader.detail(snapshot.cluster, number, known)
    except UnavailableError:
        if known is None:
            raise
        found = known
    if found is None:
        return _gone(number, f"There is no action {number} of this cluster.")
    engine.polled().queue.hold(found)
    foresight = _foresight(snapshot, found)
    view = _view(snapshot, key, found)
    return msgspec.structs.replace(
        view,
        context=_context(snapshot, key, found, foresight),
        extra={**view.extra, "foreseen": foreseen.record(foresight)},
    )


def look(snapshot: Snapshot, key: PageKey) -> View:
    """What is live of it, as the queue's thread has read it last."""
    number = int(key.args[0])
    found = engine.polled().queue.detail(snapshot.cluster, number)
    if found is not None:
        return _view(snapshot, key, found)
    return _gone(number, snapshot.queue.trouble or "It is about to be read from zkdash’s database.")


def keep_alive(key: PageKey) -> None:
    engine.polled().queue.want(str(key.cluster), int(key.args[0]))


def _view(snapshot: Snapshot, key: PageKey, found: Detail) -> View:
    moves = facts.moves(found, snapshot.state)
    entry = found.entry
    head = facts.of(snapshot, found, moves)
    return View(
        title=f"#{entry.id} {head.title}",
        parts=(
            Block(id="facts", template="actions/facts.html", values=head),
            Block(id="verbs", template="actions/verbs.html", values=_verbs(found, key)),
            page.text("moves-told", _moves_told(moves)),
            _moves_table(moves),
            _steps_table(found),
            audit_rows.part("audit-rows", audit_rows.ABOUT_ONE, found.audit, "Nothing was told of it yet."),
            page.text("audit-told", _audit_told(found)),
        ),
        fields=tables.fields(STEPS),
        records=lambda: tables.records(STEPS, found.steps),
        total=len(found.steps),
        extra=_extra(found, moves),
        version=(entry.revision, found.followers),
    )


def _foresight(snapshot: Snapshot, found: Detail) -> Foresight | None:
    """What the plan would do to the findings, while somebody may still decide about it."""
    if found.plan is None or found.entry.state not in _UNDECIDED:
        return None
    (foresight,) = foreseen.of([found.plan], snapshot)
    return foresight


_UNDECIDED = frozenset({State.PLANNED, State.PENDING})


def _context(snapshot: Snapshot, key: PageKey, found: Detail, foresight: Foresight | None) -> dict[str, Any]:
    """What is decided when the page is opened: the review, and what is around the live parts."""
    entry = found.entry
    planned, pending = entry.state is State.PLANNED, entry.state is State.PENDING
    plan = found.plan
    state = snapshot.state if entry.state in _UNDECIDED else None
    told = foreseen.told(snapshot.cluster, foresight)
    return {
        "headings": tables.headings(STEPS, ""),
        "move_headings": tables.headings(MOVES, ""),
        "audit_headings": tables.headings(audit_rows.ABOUT_ONE, ""),
        "has_moves": plan is not None and any(isinstance(step.goal, Assigned) for step in plan.steps),
        "acts": row_selection.may_act(key),
        "approves_not": {entry.user_id, *(one.user_id for one in found.authors)},
        "planned": planned,
        "pending": pending,
        "review": review.of(plan, state, told) if plan else None,
        "submit": _href(entry, Verb.SUBMIT) if planned and row_selection.may_act(key) else "",
        "plan_json": links.action(entry.cluster, entry.id, "plan.json"),
        "audit": links.audit(entry.cluster, urlencode({"action": entry.id})),
        # Who is typing the name of what is deleted is not to be sent back to the start.
        "refresh": not planned,
    }


def _gone(number: int, sentence: str) -> View:
    values = Head(number=number, title="Action", target="", gone=sentence)
    known = Block(id="facts", template="actions/facts.html", values=values)
    return View(title=f"#{number}", parts=(known,), gone=sentence, version=sentence)


def _verbs(found: Detail, key: PageKey) -> tuple[tuple[Button, ...], str]:
    """The buttons for what can be asked for now, and where a person settles an unknown step, if it is one."""
    if not row_selection.may_act(key):
        return (), ""
    entry = found.entry
    offered = [
        (Verb.APPROVE, "Approve", Right.APPROVE in Role(key.rights).rights),
        (Verb.RESUME, "Resume", True),
        (Verb.PAUSE, "Pause", True),
        (Verb.STOP, "Stop before the next step" if entry.state.is_active else "Withdraw", True),
    ]
    buttons = [
        Button(verb.value, label, _href(entry, verb))
        for verb, label, allowed in offered
        if allowed and can(entry, verb)
    ]
    if (
        entry.state.has_ended
        and found.plan is not None
        and found.plan.inverse is not None
        and _applied(found)
    ):
        buttons.append(Button("undo", "Undo: propose the inverse", _href(entry, "undo")))
    if entry.state in {State.FAILED, State.REFUSED, State.STOPPED}:
        buttons.append(Button("again", "Propose again from the current state", _href(entry, "again")))
    return tuple(buttons), _href(entry, Verb.SETTLE) if can(entry, Verb.SETTLE) else ""


def _applied(found: Detail) -> bool:
    return any(step.state in {StepState.APPLIED, StepState.VERIFIED} for step in found.steps)


def _href(entry: Entry, verb: str) -> str:
    return links.action(entry.cluster, entry.id, f"{verb}/")


def _moves_told(moves: tuple[Watched, ...]) -> str:
    if not moves:
        return ""
    counts = {stage: sum(move.stage is stage for move in moves) for stage in Stage}
    told = [f"{cells.grouped(counts[stage])} {stage.value}" for stage in Stage if counts[stage]]
    shown = "" if len(moves) <= MOST_MOVES else f" The first {MOST_MOVES} are shown."
    noun = "partition" if len(moves) == 1 else "partitions"
    return f"{cells.grouped(len(moves))} {noun}: {', '.join(told)}.{shown}"


def _moves_table(moves: tuple[Watched, ...]) -> Part:
    return tables.part(
        "moves-rows",
        MOVES,
        (
            (links.element_id("move", f"{move.topic} {move.partition}"), move.stage.tone, move)
            for move in moves[:MOST_MOVES]
        ),
        Empty("No partition is on its way now."),
    )


def _steps_table(found: Detail) -> Part:
    return tables.part(
        "steps-rows",
        STEPS,
        ((f"stage-{step.number}", _STEP_TONES[step.state], step) for step in found.steps),
        Empty("No step yet: it is planned when its time has come."),
    )


def _audit_told(found: Detail) -> str:
    return f"The newest {len(found.audit)} lines; {found.more_audit} are older." if found.more_audit else ""


def _extra(found: Detail, moves: tuple[Watched, ...]) -> dict[str, Any]:
    entry = found.entry
    (record,) = tables.records(actions.FIELDS, [entry])
    extra: dict[str, Any] = {
        "action": record | {"origin": found.origin, "followers": list(found.followers)},
        "moves": list(tables.records(MOVES, moves)),
        "audit": list(tables.records(audit_rows.FIELDS, found.audit)),
        "plan": None if found.plan is None else links.action(entry.cluster, entry.id, "plan.json"),
    }
    return extra


_STEP_TONES = {
    StepState.WAITING: Tone.UNKNOWN,
    StepState.INTENDED: Tone.INFO,
    StepState.APPLIED: Tone.INFO,
    StepState.VERIFIED: Tone.OK,
    StepState.FAILED: Tone.CRITICAL,
    StepState.REFUSED: Tone.WARNING,
    StepState.UNKNOWN: Tone.CRITICAL,
}


def _far(step: StepEntry) -> cells.Cell:
    if step.total > 1:
        words = f"{cells.grouped(step.done)} of {cells.grouped(step.total)}"
        return action_cells.Progress(words, step.done, step.total)
    return cells.absent("nothing to count")


def _ids(brokers: tuple[int, ...]) -> cells.Cell:
    return cells.Text(", ".join(map(str, brokers))) if brokers else cells.absent("none")


STEPS: tuple[Column[StepEntry], ...] = (
    Column("number", "Step", lambda one: cells.Head(one.number + 1), is_number=True, is_sortable=False),
    Column("title", "What", lambda one: cells.Text(one.title)),
    Column("status", "Status", lambda one: cells.Status(_STEP_TONES[one.state], one.state.value)),
    Column("progress", "Progress", _far),
    Column("applied", "Written", lambda one: cells.known(one.applied, cells.Moment, "it is not written")),
    Column("zxid", "zxid", lambda one: cells.known(one.zxid, cells.Id, "it is not written"), is_number=True),
    Column("verified", "Seen done", lambda one: cells.known(one.verified, cells.Moment, "it is not done")),
    Column("sentence", "Note", lambda one: cells.Text(one.sentence)),
)
MOVES: tuple[Column[Watched], ...] = (
    Column("topic", "Topic", lambda one: action_cells.Topic(one.topic)),
    Column("partition", "Partition", lambda one: cells.Id(one.partition), is_number=True),
    Column("status", "Status", lambda one: cells.Status(one.stage.tone, one.stage.value)),
    Column("replicas", "Replicas to be", lambda one: _ids(one.replicas)),
    Column("in_sync", "In sync", lambda one: _ids(one.in_sync)),
    Column("missing", "Missing", lambda one: _ids(one.missing)),
    Column("why", "Why", lambda one: cells.Text(one.why)),
)

RECORD: Final = shapes.fields(
    **shapes.columns(actions.FIELDS), origin=shapes.INTEGER_OR_NULL, followers=shapes.NUMBERS
)


PAGE = Page(
    name=NAME,
    route="actions/<int:number>/",
    template="actions/action.html",
    look=look,
    areas=frozenset({"actions", "brokers", "controller", "admin", "topics"}),
    canonical=page.without_query,
    shape=shapes.Shape(
        (STEPS,),
        {
            "action": RECORD,
            "moves": shapes.many(shapes.row(MOVES)),
            "audit": shapes.many(shapes.row(audit_rows.FIELDS)),
            "plan": shapes.TEXT_OR_NULL,
            "foreseen": foreseen.RECORD,
        },
        frozenset({"action", "moves", "audit", "plan", "foreseen"}),
    ),
    whole=whole,
    keep_alive=keep_alive,
)
