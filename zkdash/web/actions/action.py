"""Action: one action with its review or its progress, what can be done about it, and its audit."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from django.conf import settings

from zkdash.actions.queue.transitions import Verb
from zkdash.actions.reading import reader
from zkdash.actions.reading.entries import Detail, StepEntry, UnavailableError
from zkdash.actions.states import State, StepState
from zkdash.cluster.foresight import Foresight
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.plans.goals import Assigned
from zkdash.cluster.plans.move_progress import Stage, Watched
from zkdash.live import engine
from zkdash.live.parts import Block, PageKey, Part, Text
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions import actions, audit_rows, facts, foreseen, review, review_pages, review_words, verbs
from zkdash.web.actions import cells as action_cells
from zkdash.web.actions.facts import MOST_MOVES, Head
from zkdash.web.frame import cells, links, row_selection, shapes, tables
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty
from zkdash.zk.config import named

NAME = "action"
_LARGEST_ID = (1 << 63) - 1


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """The page as the database has it now, with the review."""
    number = int(key.args[0])
    if number > _LARGEST_ID:
        return _gone(number, f"There is no action {number} of this cluster.")
    known_detail = engine.polled().queue.detail(snapshot.cluster, number)
    try:
        detail = reader.detail(snapshot.cluster, number, known_detail)
    except UnavailableError:
        if known_detail is None:
            raise
        detail = known_detail
    if detail is None:
        return _gone(number, f"There is no action {number} of this cluster.")
    engine.polled().queue.hold(detail)
    foresight = _foresight(snapshot, detail)
    view = _view(snapshot, key, detail)
    return msgspec.structs.replace(
        view,
        context=_context(snapshot, key, detail, foresight),
        extra=lambda: {**view.extra(), "foreseen": foreseen.record(foresight)},
    )


def look(snapshot: Snapshot, key: PageKey) -> View:
    """What is live of it, as the queue's thread has read it last."""
    number = int(key.args[0])
    detail = engine.polled().queue.detail(snapshot.cluster, number)
    if detail is not None:
        return _view(snapshot, key, detail)
    return _gone(number, snapshot.queue.trouble or "It is about to be read from zkdash’s database.")


def keep_alive(key: PageKey) -> None:
    engine.polled().queue.want(str(key.cluster), int(key.args[0]))


def _view(snapshot: Snapshot, key: PageKey, detail: Detail) -> View:
    moves = facts.moves(detail, snapshot.state)
    entry = detail.entry
    head = facts.of(snapshot, detail, moves)
    return View(
        title=f"#{entry.id} {head.title}",
        parts=(
            Block(id="facts", template="actions/facts.html", values=head),
            Block(id="verbs", template="actions/verbs.html", values=verbs.offered(detail, key)),
            Text("moves-told", _moves_told(moves)),
            _moves_table(moves),
            _steps_table(detail),
            audit_rows.part("audit-rows", audit_rows.ABOUT_ONE, detail.audit, "Nothing was told of it yet."),
            Text("audit-told", _audit_told(detail)),
        ),
        fields=tables.fields(STEPS),
        records=lambda: tables.records(STEPS, detail.steps),
        total=len(detail.steps),
        extra=lambda: _extra(detail, moves),
        version=(entry.revision, detail.followers),
    )


def _foresight(snapshot: Snapshot, detail: Detail) -> Foresight | None:
    """What the plan would do to the findings, while somebody may still decide about it."""
    if detail.plan is None or detail.entry.state not in _UNDECIDED:
        return None
    (foresight,) = foreseen.of([detail.plan], snapshot)
    return foresight


_UNDECIDED = frozenset({State.PLANNED, State.PENDING})


def _context(snapshot: Snapshot, key: PageKey, detail: Detail, foresight: Foresight | None) -> dict[str, Any]:
    """What is decided when the page is opened: the review, and what is around the live parts."""
    entry = detail.entry
    planned, pending = entry.state is State.PLANNED, entry.state is State.PENDING
    plan = detail.plan
    is_undecided = entry.state in _UNDECIDED
    state = snapshot.state if is_undecided else None
    incident_words = foreseen.told(snapshot.cluster, foresight)
    # what is decided was written by the configuration of then
    config = named(settings.ZKDASH_CLUSTERS, snapshot.cluster) if is_undecided else None
    return {
        "headings": tables.headings(STEPS, ""),
        "move_headings": tables.headings(MOVES, ""),
        "audit_headings": tables.headings(audit_rows.ABOUT_ONE, ""),
        "has_moves": plan is not None and any(isinstance(step.goal, Assigned) for step in plan.steps),
        "acts": row_selection.may_act(key),
        "approves_not": {entry.user_id, *(author.user_id for author in detail.authors)},
        "planned": planned,
        "pending": pending,
        "review": review.of(plan, state, incident_words, snapshot.departed, review_pages.read(key.query))
        if plan
        else None,
        "beside": review_words.beside(entry.id, markers=config.markers) if config else "",
        "submit": links.action(entry.cluster, entry.id, f"{Verb.SUBMIT}/")
        if planned and row_selection.may_act(key)
        else "",
        "plan_json": links.action(entry.cluster, entry.id, "plan.json"),
        "audit": links.audit(entry.cluster, urlencode({"action": entry.id})),
        # Who is typing the name of what is deleted is not to be sent back to the start.
        "refresh": not planned,
    }


def _gone(number: int, sentence: str) -> View:
    values = Head(number=number, title="Action", target="", gone=sentence)
    block = Block(id="facts", template="actions/facts.html", values=values)
    return View(title=f"#{number}", parts=(block,), gone=sentence, version=sentence)


def _moves_told(moves: tuple[Watched, ...]) -> str:
    if not moves:
        return ""
    counts = {stage: sum(move.stage is stage for move in moves) for stage in Stage}
    counted = [f"{cells.grouped(counts[stage])} {stage.value}" for stage in Stage if counts[stage]]
    shown = "" if len(moves) <= MOST_MOVES else f" The first {MOST_MOVES} are shown."
    noun = "partition" if len(moves) == 1 else "partitions"
    return f"{cells.grouped(len(moves))} {noun}: {', '.join(counted)}.{shown}"


def _moves_table(moves: tuple[Watched, ...]) -> Part:
    return tables.part(
        "moves-rows",
        MOVES,
        (
            (links.element_id("move", f"{move.topic} {move.partition}"), move.stage.severity, move)
            for move in moves[:MOST_MOVES]
        ),
        Empty("No partition is being reassigned now."),
    )


def _steps_table(detail: Detail) -> Part:
    return tables.part(
        "steps-rows",
        STEPS,
        ((f"stage-{step.number}", _STEP_SEVERITIES[step.state], step) for step in detail.steps),
        Empty("No step yet: it is planned when its time has come."),
    )


def _audit_told(detail: Detail) -> str:
    return (
        f"The newest {len(detail.audit)} lines; {detail.more_audit} are older." if detail.more_audit else ""
    )


def _extra(detail: Detail, moves: tuple[Watched, ...]) -> dict[str, Any]:
    entry = detail.entry
    (record,) = tables.records(actions.FIELDS, [entry])
    extra: dict[str, Any] = {
        "action": record | {"origin": detail.origin, "followers": list(detail.followers)},
        "moves": list(tables.records(MOVES, moves)),
        "audit": list(tables.records(audit_rows.FIELDS, detail.audit)),
        "plan": None if detail.plan is None else links.action(entry.cluster, entry.id, "plan.json"),
    }
    return extra


_STEP_SEVERITIES = {
    StepState.WAITING: Severity.UNKNOWN,
    StepState.INTENDED: Severity.INFO,
    StepState.APPLIED: Severity.INFO,
    StepState.VERIFIED: Severity.OK,
    StepState.FAILED: Severity.CRITICAL,
    StepState.REFUSED: Severity.WARNING,
    StepState.UNKNOWN: Severity.CRITICAL,
}


def _far(step: StepEntry) -> cells.Cell:
    if step.total > 1:
        words = f"{cells.grouped(step.done)} of {cells.grouped(step.total)}"
        return action_cells.Progress(words, step.done, step.total)
    return cells.absent("nothing to count")


def _ids(brokers: tuple[int, ...]) -> cells.Cell:
    return cells.Text(", ".join(map(str, brokers))) if brokers else cells.absent("none")


STEPS: tuple[Column[StepEntry], ...] = (
    Column("number", "Step", lambda step: cells.Head(step.number + 1), is_number=True, is_sortable=False),
    Column("title", "What", lambda step: cells.Text(step.title)),
    Column("status", "Status", lambda step: cells.Status(_STEP_SEVERITIES[step.state], step.state.value)),
    Column("progress", "Progress", _far),
    Column("applied", "Written", lambda step: cells.known(step.applied, cells.Moment, "it is not written")),
    Column(
        "zxid", "zxid", lambda step: cells.known(step.zxid, cells.Zxid, "it is not written"), is_number=True
    ),
    Column("verified", "Seen done", lambda step: cells.known(step.verified, cells.Moment, "it is not done")),
    Column("sentence", "Note", lambda step: cells.Text(step.sentence)),
)
MOVES: tuple[Column[Watched], ...] = (
    Column("topic", "Topic", lambda move: cells.RowName(move.topic)),  # which may be gone by now
    Column("partition", "Partition", lambda move: cells.Id(move.partition), is_number=True),
    Column("status", "Status", lambda move: cells.Status(move.stage.severity, move.stage.value)),
    Column("replicas", "Replicas to be", lambda move: _ids(move.replicas)),
    Column("in_sync", "In sync", lambda move: _ids(move.in_sync)),
    Column("missing", "Missing", lambda move: _ids(move.missing)),
    Column("why", "Why", lambda move: cells.Text(move.why)),
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
    canonical=review_pages.canonical,
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
        review_pages.SHAPE,
    ),
    whole=whole,
    keep_alive=keep_alive,
    no_past="An action’s page tells of all that became of it since; there is no other of the past.",
)
