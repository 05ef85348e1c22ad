"""What a page is: declared once, then served whole, as JSON, as CSV, and live.

A page's `look` turns a snapshot into plain values. The HTTP view renders all of them, the hub renders
the live parts of the same values again when a revision changed what they show.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, Literal
from urllib.parse import unquote_plus

import msgspec

from zkdash.cluster.model.changed_areas import Area
from zkdash.cluster.model.severity import Severity
from zkdash.live.parts import PageKey, Part
from zkdash.live.snapshot import ChangedAreas, Snapshot
from zkdash.web.frame.cells import Plain, Record
from zkdash.web.frame.parameters import EVERYWHERE
from zkdash.web.frame.shapes import Shape
from zkdash.web.frame.subjects import Subject

_LONGEST = 200
# The page that leads to other clusters, and so is another for who sees others.
SEARCH: Final = "search"


class View(msgspec.Struct, frozen=True):
    """One page at one moment.

    `title` is the name of what is seen. `parts` are live. `context` goes to the page's template only and
    never changes while the page is open. `records` are the rows of JSON and CSV with the same `fields` each;
    `total` counts the rows of all pages of the query, `extra` is what JSON has beside them: it is made, as
    they are, for who asks for JSON, and never for a page or a frame. `gone` is the sentence of a 404: what
    was asked for is not there. `elsewhere` is the address of the page that a person is sent to instead.
    `version` tells two views of one revision apart, where a page shows more than the snapshot holds.
    """

    title: str
    parts: tuple[Part, ...]
    context: Mapping[str, Any] = {}
    fields: tuple[str, ...] = ()
    records: Callable[[], Iterable[Record]] = tuple
    total: int = 0
    extra: Callable[[], Mapping[str, Plain | Record | list[Record]]] = dict
    gone: str = ""
    elsewhere: str = ""
    version: object = None


Look = Callable[[Snapshot, PageKey], View]
# Topics whose logs, and groups (with the topics of each) whose commits, are to be asked of the brokers.
BrokerDemand = tuple[Collection[str], Mapping[str, Collection[str]]]


class Badge(msgspec.Struct, frozen=True):
    """The number beside an entry of the side bar, none for 0. With a `severity` it asks to be looked at."""

    number: int
    severity: Severity | None = None


class Page(msgspec.Struct, frozen=True):
    """A page of one cluster.

    `route` follows /c/<cluster>/ in Django's path syntax, `look` builds it. `canonical` reads a raw query
    string and returns the canonical one, with sentences about what was not understood. `label` and `letter`
    are its entry in the side bar and its `g` key, `section` is the heading that the entry stands under; what
    has none stands on top. `badge` is the number beside the label. `shape` is what its JSON holds, of which
    /api/openapi.json is made.
    It is rendered again after a revision that changed one of its `areas`, or, where the first argument of its
    address names one of the `entities`, that one; and whenever its `render_key` is another: what else can
    show on it, where that is cheaper to compare than to be told of.
    `broker_demand` says what of the brokers' own knowledge it shows, which they are then asked while it is
    looked at; `lists_kafka_groups`, that it shows which groups they know.
    `whole` builds it for a request, where that needs the database; `look` then has what is live of it. While
    a page is open, `keep_alive` is called every 2 s, to have what it shows read on.
    `no_past` says why a moment of the past has no such page, "" where it has one.
    One that `compares` shows what differs between `?from=` and that moment. `subject_of` its key
    is what it is about, where that is not the whole cluster.
    """

    name: str
    route: str
    template: str
    look: Look
    canonical: Callable[[str], tuple[str, tuple[str, ...]]]
    shape: Shape
    areas: frozenset[Area] = frozenset()
    entities: Literal["", "topics", "groups"] = ""
    section: str = ""
    label: str = ""
    letter: str = ""
    badge: Callable[[Snapshot], Badge] | None = None
    render_key: Callable[[Snapshot, PageKey], object] | None = None
    broker_demand: Callable[[Snapshot, PageKey], BrokerDemand] | None = None
    lists_kafka_groups: bool = False
    whole: Look | None = None
    keep_alive: Callable[[PageKey], None] | None = None
    no_past: str = ""
    compares: bool = False
    subject_of: Callable[[PageKey], Subject | None] | None = None

    def shows(self, key: PageKey, changed: ChangedAreas) -> bool:
        """Whether what a revision changed can show on the page, by what it declares."""
        if not self.areas.isdisjoint(changed.areas):
            return True
        named = {"topics": changed.topics, "groups": changed.groups}.get(self.entities, ())
        return bool(named) and key.args[0] in named


def without_query(raw: str) -> tuple[str, tuple[str, ...]]:
    """The `canonical` of a page that takes no query: parameters that are given anyway are named in notes."""
    names = {pair.partition("=")[0] for pair in raw[:_LONGEST].split("&") if pair}
    strange = sorted(unquote_plus(name) for name in names if name not in EVERYWHERE)
    return "", tuple(f"“{name}” is not a parameter of this page." for name in strange)
