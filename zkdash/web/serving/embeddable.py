"""What can be embedded, and which part of which page that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from django.urls import reverse

from zkdash.access.embeds import View
from zkdash.cluster import checks
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables.brokers import rows as broker_rows
from zkdash.history.queries.trends import TITLES
from zkdash.kafka import paths
from zkdash.kafka.documents.document import quote
from zkdash.live.parts import PageKey
from zkdash.web import pages
from zkdash.web.checks import check
from zkdash.web.frame import links
from zkdash.web.history import chart, trends
from zkdash.web.overview import counts, number

NUMBERS = counts.NUMBERS
_PREFIXES = {
    check.NAME: checks.TITLES,
    number.NAME: {name: one_number.label for name, one_number in NUMBERS.items()},
    chart.NAME: TITLES,
}


class ViewError(ValueError):
    """No such view can be shown; the message is one sentence, `about` what of the choice is wrong."""

    def __init__(self, about: str, sentence: str) -> None:
        super().__init__(sentence)
        self.about = about


class Kind(msgspec.Struct, frozen=True):
    """A page that can be embedded: `template` shows its live `parts` in a frame, `missing` tells why a name
    will not do."""

    label: str
    template: str
    parts: tuple[str, ...]
    missing: Callable[[ClusterState, str], str] | None = None


def _no_topic(state: ClusterState, name: str) -> str:
    return "" if name in state.topics else f"There is no topic {quote(name)}."


def _no_group(state: ClusterState, name: str) -> str:
    return "" if name in state.groups else f"There is no group {quote(name)} in ZooKeeper."


def _no_broker(state: ClusterState, name: str) -> str:
    is_unknown = paths.is_id(name) and int(name) in broker_rows.ids(state)
    return "" if is_unknown else f"There is no broker {quote(name)}."


_TOPIC = ("banner", "facts", "options", "partitions-rows", "brokers-rows", "pager")
_GROUP = ("banner", "facts", "members-rows", "partitions-rows", "pager")
_BROKER = ("banner", "facts", "replicas-rows", "pager")

KINDS: Final[dict[str, Kind]] = {
    "overview": Kind("Overview", "embeds/overview.html", ("banner", "causes", "checks", "strip", "happened")),
    "topic": Kind("A topic", "embeds/topic.html", _TOPIC, _no_topic),
    "group": Kind("A group", "embeds/group.html", _GROUP, _no_group),
    "broker": Kind("A broker", "embeds/broker.html", _BROKER, _no_broker),
    check.NAME: Kind("One check", "embeds/check.html", ("banner", "checks")),
    number.NAME: Kind("One number", "embeds/number.html", ("banner", "strip")),
    chart.NAME: Kind("One chart", "embeds/chart.html", ("banner",)),
}

# What a form offers: "overview", "topic", …, "check:D1", "number:offline".
CHOICES: Final[tuple[tuple[str, list[tuple[str, str]]], ...]] = (
    ("Pages", [(name, kind.label) for name, kind in KINDS.items() if name not in _PREFIXES]),
    ("One check", [(f"{check.NAME}:{check_id}", title) for check_id, title in checks.TITLES.items()]),
    ("One number", [(f"{number.NAME}:{name}", one_number.label) for name, one_number in NUMBERS.items()]),
    ("One chart", [(f"{chart.NAME}:{name}", title) for name, title in TITLES.items()]),
)


def view(cluster: str, choice: str, name: str, query: str, state: ClusterState) -> View:
    """The view that somebody chose, of what the cluster has. Raises ViewError."""
    page, _, arg = choice.partition(":")
    if page not in KINDS or (page in _PREFIXES and arg not in _PREFIXES[page]):
        raise ViewError("view", f"{quote(choice[:100])} is not a view that can be embedded.")
    missing = KINDS[page].missing
    if missing is not None and not name:
        raise ViewError("name", f"Name the {page} that is to be shown.")
    if missing is not None and (why := missing(state, name)):
        raise ViewError("name", why)
    canonical, strange = pages.BY_NAME[page].canonical(query.removeprefix("?"))
    if strange:
        raise ViewError("query", strange[0])
    args = (arg,) if arg else (name,) if missing else ()
    return View(cluster, page, args, canonical)


def filled(key: PageKey) -> dict[str, str]:
    """What the form that makes an embed is filled in with for a page: nothing where it cannot be embedded."""
    page, args = (chart.NAME, (next(iter(TITLES)),)) if key.page == trends.NAME else (key.page, key.args)
    if page not in KINDS:
        return {}
    of_page = {"view": f"{page}:{args[0]}"} if page in _PREFIXES else {"view": page}
    named = {"name": args[0]} if KINDS[page].missing is not None else {}
    return of_page | named | ({"query": key.query} if key.query else {})


def key(shown: View) -> PageKey:
    """The page as a viewer sees it, and of that only what the frame draws."""
    return PageKey(shown.cluster, shown.page, shown.args, shown.query, only=KINDS[shown.page].parts)


def is_possible(shown: View) -> bool:
    """Whether what was once chosen is still something that this version shows."""
    return shown.page in KINDS and (shown.page not in _PREFIXES or shown.args[0] in _PREFIXES[shown.page])


def home(shown: View) -> str:
    """The address of the whole page, where links inside of an embed lead."""
    if shown.page == number.NAME:
        return links.cluster(shown.cluster)
    page, args = (trends.NAME, ()) if shown.page == chart.NAME else (shown.page, shown.args)
    path = reverse(page, args=(shown.cluster, *args))
    return f"{path}?{shown.query}" if shown.query else path


def words(shown: View) -> str:
    """What is shown, in a few words."""
    if shown.page in _PREFIXES:
        return f"{KINDS[shown.page].label}: {_PREFIXES[shown.page].get(shown.args[0], shown.args[0])}"
    return f"{shown.page.capitalize()} {shown.args[0]}" if shown.args else KINDS[shown.page].label
