"""What stands above a page's tables: what something is, line by line."""

from __future__ import annotations

import msgspec

from zkdash.cluster.model.tone import Tone


class Fact(msgspec.Struct, frozen=True):
    """One line: words, something with a copy button, or an instant. `href` lists what was counted, `how` says
    how it was computed."""

    label: str
    words: tuple[str, ...] = ()
    copied: str = ""
    when: int | None = None
    href: str = ""
    tone: Tone | None = None
    how: str = ""


class Facts(msgspec.Struct, frozen=True):
    """What the template draws. `gone` is the sentence where there is no such thing."""

    name: str
    gone: str = ""
    tone: Tone = Tone.UNKNOWN
    status: str = ""
    facts: tuple[Fact, ...] = ()
    note: str = ""
