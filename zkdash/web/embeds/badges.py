"""A check or a number as a picture of two words, for README files and wikis."""

from __future__ import annotations

from typing import Final

import msgspec
from django.http import HttpResponse
from django.template.loader import render_to_string

from zkdash.access.embeds import View
from zkdash.cluster.model.severity import Severity
from zkdash.live.snapshot import Snapshot
from zkdash.web.checks import check
from zkdash.web.overview import counts, number

# What a check is about, and what is wrong with so many of it, where its id and the number would not say.
_WORDS: Final[dict[str, tuple[str, str]]] = {
    "D1": ("partitions", "{} offline"),
    "D2": ("leaders", "{} not registered"),
    "D8": ("replicas", "{} under-replicated"),
    "D18": ("controller", "none"),
    "D30": ("znodes", "{} unparsable"),
    "D40": ("groups", "{} unowned"),
}
# The light theme's colours, on which white reads well.
_COLOURS: Final[dict[Severity, str]] = {
    Severity.OK: "#176b34",
    Severity.WARNING: "#805000",
    Severity.CRITICAL: "#b3202c",
    Severity.UNKNOWN: "#566070",
    Severity.INFO: "#0b5cad",
}
_PADDING, _CHARACTER = 6, 6.6
_LONGEST = 60


class Badge(msgspec.Struct, frozen=True):
    """What a badge says: what it is about, then how that is."""

    about: str
    says: str
    severity: Severity


def has_one(view: View) -> bool:
    """Whether a view is small enough to be a badge."""
    return view.page in {check.NAME, number.NAME}


def of(view: View, snapshot: Snapshot | None) -> Badge:
    """The badge of a view: what is not known to be so now is unknown, whatever was known last."""
    name = view.args[0]
    about = _words(name)[0] if view.page == check.NAME else counts.NUMBERS[name].label.lower()
    about = f"{view.cluster} {about}"
    if snapshot is None or not check.is_known(snapshot):
        return Badge(about, "unknown", Severity.UNKNOWN)
    if view.page == check.NAME:
        return Badge(about, *_check(snapshot, name))
    figure = counts.read(snapshot, name)
    return Badge(about, figure.shown, figure.severity or Severity.INFO)


def ended(word: str) -> Badge:
    """The badge of a link that is worth nothing."""
    return Badge("zkdash", f"embed: {word}", Severity.UNKNOWN)


def picture(badge: Badge, status: int = 200, sentence: str = "") -> HttpResponse:
    """The SVG of a badge; `sentence` is its title where that says more than it."""
    about, says = _cut(badge.about), _cut(badge.says)
    left, right = _width(about), _width(says)
    context = {
        "about": about,
        "says": says,
        "title": sentence or f"{badge.about}: {badge.says}",
        "colour": _COLOURS[badge.severity],
        "left": left,
        "right": right,
        "width": left + right,
        "about_width": left - 2 * _PADDING,
        "says_width": right - 2 * _PADDING,
        "says_at": left + _PADDING,
    }
    markup = render_to_string("embeds/badge.svg", context)
    content = markup.encode("utf-8", "backslashreplace")
    return HttpResponse(content, status=status, content_type="image/svg+xml; charset=utf-8")


def _check(snapshot: Snapshot, name: str) -> tuple[str, Severity]:
    finding = check.finding(snapshot, name)
    if finding is not None:
        return _words(name)[1].format(finding.count), finding.severity
    return ("ok", Severity.OK) if check.passes(snapshot, name) else ("unknown", Severity.UNKNOWN)


def _words(name: str) -> tuple[str, str]:
    return _WORDS.get(name, (f"check {name}", "{} found"))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _width(text: str) -> int:
    return round(len(text) * _CHARACTER) + 2 * _PADDING
