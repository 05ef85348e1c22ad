"""How an action looks in a table: its number, its state in words, how far it is."""

from __future__ import annotations

import datetime

from django.utils.safestring import SafeString

from zkdash.actions.reading import queries
from zkdash.actions.reading.entries import Entry
from zkdash.actions.states import State
from zkdash.cluster.plans import registry
from zkdash.web.frame import cells, times
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.markup import format_html

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


class ActionId(Cell, frozen=True):
    """The number that an action is known by, with its page."""

    number: int
    href: str

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        return format_html('<th scope="row" class="num"><a href="{}">#{}</a></th>', self.href, self.number)


class Kind(Cell, frozen=True):
    """What an action does: in words for people, by its tag in JSON and CSV."""

    tag: str

    @property
    def plain(self) -> str:
        return self.tag

    def html(self) -> SafeString:
        return format_html('<td class="text">{}</td>', registry.title(self.tag))


class Took(Cell, frozen=True):
    """How long something took; in JSON in seconds."""

    ms: int

    @property
    def plain(self) -> float:
        return self.ms / 1000

    def html(self) -> SafeString:
        return format_html('<td class="num">{}</td>', span(self.ms / 1000))


class Progress(Cell, frozen=True):
    """How far an action is, in words, and as a bar where there is a number to draw."""

    words: str
    done: int = 0
    total: int = 0

    @property
    def plain(self) -> str:
        return self.words

    def html(self) -> SafeString:
        if not self.total:
            return format_html('<td class="text"><bdi>{}</bdi></td>', self.words)
        bar = format_html(
            '<progress value="{}" max="{}" aria-label="Progress"></progress>', self.done, self.total
        )
        return format_html('<td class="text"><bdi>{}</bdi> {}</td>', self.words, bar)


class Event(Cell, frozen=True):
    """What happened: in words for people, by the event's tag in JSON and CSV."""

    tag: str
    words: str

    @property
    def plain(self) -> str:
        return self.tag

    def html(self) -> SafeString:
        return format_html('<td class="text"><bdi>{}</bdi></td>', self.words)


class Document(Cell, frozen=True):
    """A short JSON document, folded."""

    text: str

    @property
    def plain(self) -> str:
        return self.text

    def html(self) -> SafeString:
        if not self.text:
            return SafeString("<td></td>")
        return format_html(
            "<td><details><summary>JSON</summary><code><bdi>{}</bdi></code></details></td>", self.text
        )


def status(entry: Entry) -> cells.Status:
    """The state, with what people want of it meanwhile."""
    words = str(entry.state)
    if entry.state is State.PENDING:
        words = "pending approval"
    if entry.stop_wanted and entry.is_in_flight:
        words += ", stopping"
    elif entry.pause_wanted and entry.is_in_flight:
        words += ", paused"
    return cells.Status(queries.severity(entry), words)


def progress(entry: Entry) -> Progress:
    """What an action waits for, how far it is, or how it ended."""
    if entry.state in {State.RUNNING, State.VERIFYING} and entry.steps:
        at = f"Step {min(entry.step + 1, entry.steps)} of {entry.steps}"
        far = f", {cells.grouped(entry.done)} of {cells.grouped(entry.total)}" if entry.total > 1 else ""
        doing = f": {entry.doing}" if entry.doing else ""
        waits = f". {entry.result}" if entry.result else ""
        bar = (entry.done, entry.total) if entry.total > 1 else (entry.step, entry.steps)
        return Progress(f"{at}{doing}{far}{waits}", *bar)
    return Progress(
        " ".join(sentence for sentence in (entry.result or _waits(entry), repeats(entry)) if sentence)
    )


def _waits(entry: Entry) -> str:
    if entry.state is State.QUEUED:
        if entry.pause_wanted:
            return "Paused: it begins when somebody resumes it."
        if entry.not_before is not None:
            return f"Begins at {utc(entry.not_before)} at the earliest."
    if entry.state is State.PENDING:
        return f"Waits for the approval of somebody else than {entry.by}."
    return _WAITS.get(entry.state, "")


_WAITS = {
    State.PLANNED: "A dry run so far: it was not submitted.",
    State.QUEUED: "Waits for its turn.",
    State.UNKNOWN: "Nobody can tell whether a step was applied: a person must say.",
}


def repeats(entry: Entry) -> str:
    """How often it repeats, "" where it does not."""
    return f"Repeats {span(entry.repeat_s)} after it has ended." if entry.repeat_s else ""


def utc(epoch_ms: int) -> str:
    """An instant to come, which the script does not word as an age."""
    moment = times.utc(epoch_ms) or datetime.datetime.max.replace(tzinfo=datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def span(seconds: float) -> str:
    """A stretch of time in its two largest units: "3 min 12 s"."""
    whole = int(seconds)
    if whole < _MINUTE:
        return f"{seconds:.1f} s" if whole < 10 and seconds != whole else f"{whole} s"
    units = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (1, "s"))
    said: list[str] = []
    for size, unit in units:
        number, whole = divmod(whole, size)
        if number or said:
            said.append(f"{number} {unit}" if number else "")
        if len(said) == 2:
            break
    return " ".join(filter(None, said))
