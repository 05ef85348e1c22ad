"""What stands at the top of an action's page: its stages, how far it is, who wanted it and why."""

from __future__ import annotations

import datetime
import math

import msgspec

from zkdash.actions.reading import queries
from zkdash.actions.reading.entries import Detail, Entry, StepEntry
from zkdash.actions.states import State, StepState
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import move_progress, registry
from zkdash.cluster.plans.goals import Assigned
from zkdash.cluster.plans.move_progress import Stage, Watched
from zkdash.cluster.plans.values import Step
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions import action_targets, review_words
from zkdash.web.actions import cells as action_cells
from zkdash.web.frame import cells, links
from zkdash.web.frame.facts import Fact, moment, text
from zkdash.web.frame.markup import format_html, format_html_join

PAST, NOW, AHEAD = "past", "now", "ahead"
MOST_MOVES = 200
_MOST_FOLLOWERS = 5


class Head(msgspec.Struct, frozen=True):
    """The head of the page. `stages` are (word, past or now or ahead); `bar` is (done, total) or None.

    `gone` is the sentence where there is nothing to show, `trouble` why what is shown may be old.
    """

    number: int
    title: str
    target: str
    state: str = ""
    severity: Severity = Severity.UNKNOWN
    words: str = ""
    stages: tuple[tuple[str, str], ...] = ()
    sentence: str = ""
    bar: tuple[int, int] | None = None
    eta: str = ""
    facts: tuple[Fact, ...] = ()
    trouble: str = ""
    gone: str = ""


def of(snapshot: Snapshot, detail: Detail, moves: tuple[Watched, ...]) -> Head:
    """The head of an action; `moves` are the partitions of the reassignment that is under way."""
    entry = detail.entry
    progress = action_cells.progress(entry)
    done = sum(move.stage is Stage.DONE for move in moves)
    bar = (done, len(moves)) if moves else (progress.done, progress.total) if progress.total else None
    return Head(
        number=entry.id,
        title=registry.title(entry.kind),
        target=entry.target,
        state=entry.state.value,
        severity=queries.severity(entry),
        words=action_cells.status(entry).word,
        stages=_stages(detail),
        sentence=progress.words,
        bar=bar,
        eta=_eta(under_way(detail), done, len(moves), snapshot.as_of) if moves else "",
        facts=_facts(detail),
        trouble=snapshot.queue.trouble,
    )


def under_way(detail: Detail) -> StepEntry | None:
    """The step whose write is out and whose goal is waited for."""
    if not detail.entry.state.is_active and detail.entry.state is not State.UNKNOWN:
        return None
    begun = {StepState.INTENDED, StepState.APPLIED, StepState.UNKNOWN}
    return next((step for step in detail.steps if step.state in begun), None)


def planned_step(detail: Detail, step: StepEntry | None) -> Step | None:
    """What the plan says of a step."""
    steps = detail.plan.steps if detail.plan else ()
    return steps[step.number] if step is not None and step.number < len(steps) else None


def moves(detail: Detail, state: ClusterState) -> tuple[Watched, ...]:
    """The partitions that the step under way moves, those that need a look first."""
    step = planned_step(detail, under_way(detail))
    return (
        move_progress.watch(step.goal, state) if step is not None and isinstance(step.goal, Assigned) else ()
    )


def _stages(detail: Detail) -> tuple[tuple[str, str], ...]:
    """The way of an action: what is behind it, where it stands, what comes if all goes well."""
    entry, state = detail.entry, detail.entry.state
    stages = [("proposed", NOW if state is State.PLANNED else PAST)]
    if entry.needs_approval:
        stages.append(("approved", PAST if entry.approved else NOW if state is State.PENDING else AHEAD))
    stages.append(("queued", NOW if state is State.QUEUED else PAST if entry.queued else AHEAD))
    verifies = state is State.VERIFYING or (state is State.RUNNING and under_way(detail) is not None)
    runs = state is State.RUNNING and not verifies
    stages.append(("running", NOW if runs else PAST if entry.started else AHEAD))
    zxids = [step.zxid for step in detail.steps if step.zxid is not None]
    if zxids:
        stages.append((f"written at zxid {zxids[-1]:#x}", PAST))
    if verifies:
        step = planned_step(detail, under_way(detail))
        waits = review_words.waits_for(step.goal).removeprefix("then ") if step else "waits for Kafka"
        stages.append((f"verifying: {waits}", NOW))
    if state.has_ended or state is State.UNKNOWN:
        return (*(stage for stage in stages if stage[1] == PAST), (_END.get(state, state.value), NOW))
    return (*stages, ("done", AHEAD))


_END = {State.UNKNOWN: "unknown: a person must say what became of the last write"}


def _eta(step: StepEntry | None, done: int, total: int, now: float | None) -> str:
    """When it will be done at the rate since its write; "" where nothing can be told."""
    if step is None or step.applied is None or now is None or not done or done == total:
        return ""
    took = now - step.applied / 1000
    if took <= 0:
        return ""
    end = now + (total - done) * took / done
    minute = datetime.datetime.fromtimestamp(math.ceil(end / 60) * 60, datetime.UTC)
    rate = f"{cells.grouped(done)} of {cells.grouped(total)} partitions so far"
    return f"At the rate so far done by about {minute:%Y-%m-%d %H:%M} UTC ({rate})."


def _fact(label: str, words: str = "", href: str = "", when: int | None = None) -> Fact:
    """Words, with a link where there is one, and an instant."""
    instant = "" if when is None else moment(when)
    return Fact(label, format_html("{}{}{}", text(words, href), ", " if words and instant else "", instant))


def _facts(detail: Detail) -> tuple[Fact, ...]:
    entry = detail.entry
    labels = [
        *_about(detail),
        _fact("Asked for by", f"{entry.by} ({entry.source})", when=entry.requested),
        _fact("Reason", entry.reason or "none given"),
    ]
    planned = [author.name for author in detail.authors if author.name != entry.by]
    if planned:
        labels.append(_fact("Planned by", ", ".join(planned)))
    if entry.needs_approval:
        others = " and ".join((entry.by, *planned))
        labels.append(
            _fact("Approved by", entry.approved_by, when=entry.approved)
            if entry.approved
            else _fact("Approval", f"by somebody else than {others}, not yet given")
        )
    for label, when in (("Queued", entry.queued), ("Started", entry.started), ("Ended", entry.ended)):
        if when is not None:
            labels.append(_fact(label, when=when))
    if entry.took_ms is not None:
        labels.append(_fact("Took", action_cells.span(entry.took_ms / 1000)))
    if entry.not_before is not None:
        labels.append(_fact("Not before", action_cells.utc(entry.not_before)))
    if entry.repeat_s:
        labels.append(_fact("Repeats", action_cells.repeats(entry)))
    return (*labels, *_relatives(entry, detail))


def _about(detail: Detail) -> list[Fact]:
    """The pages of what it acts on, where there are such pages."""
    shown = action_targets.targets(detail)
    if not shown:
        return []
    linked = format_html_join(", ", '<a href="{}"><bdi>{}</bdi></a>', ((href, name) for name, href in shown))
    return [Fact("Acts on", linked)]


def _relatives(entry: Entry, detail: Detail) -> list[Fact]:
    relatives = []
    if detail.origin is not None:
        relatives.append(
            _fact("Follows from", f"#{detail.origin}", links.action(entry.cluster, detail.origin))
        )
    return relatives + [
        _fact("Followed by", f"#{number}", links.action(entry.cluster, number))
        for number in detail.followers[:_MOST_FOLLOWERS]
    ]
