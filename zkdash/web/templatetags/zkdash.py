"""The tags that templates of zkdash use beyond if, for and include."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django import db, template
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.safestring import SafeString

from zkdash.cluster.model.severity import Severity
from zkdash.live.parts import Part
from zkdash.web import pages
from zkdash.web.frame import cells as values
from zkdash.web.frame import links, table_markup, times
from zkdash.web.frame.tables import Heading
from zkdash.web.serving import renderer
from zkdash.web.visitors import gate, sessions

register = template.Library()


class OnceNode(template.Node):
    """What is the same on every page: rendered with the first of them, as if nothing were known."""

    def __init__(self, nodelist: template.NodeList) -> None:
        self.nodelist = nodelist
        self._text: SafeString | None = None

    def render(self, context: template.Context) -> SafeString:
        if self._text is None:
            nothing = template.Context()
            nothing.template = context.template
            self._text = self.nodelist.render(nothing)
        return self._text


@register.tag
def once(parser: template.base.Parser, token: template.base.Token) -> OnceNode:  # noqa: ARG001 - Django's signature
    """`{% once %}…{% endonce %}`: a piece of a page that a process renders once. It sees no variable."""
    nodelist = parser.parse(("endonce",))
    parser.delete_first_token()
    return OnceNode(nodelist)


@register.simple_tag
def letters() -> tuple[tuple[str, str], ...]:
    """The keys that lead to pages, with their labels."""
    return tuple((page.letter, page.label) for page in pages.PAGES if page.letter)


@register.simple_tag
def cells(row: Iterable[values.Cell]) -> SafeString:
    """The cells of one table row."""
    return SafeString("".join([cell.html() for cell in row]))


@register.simple_tag
def head(headings: Iterable[Heading]) -> SafeString:
    """A table's header."""
    return SafeString(table_markup.head(headings))


@register.simple_tag
def live(parts: Sequence[Part], part_id: str) -> SafeString:
    """The live part of that id, as a frame would swap it in."""
    part = next((part for part in parts if part.id == part_id), None)
    if part is None:  # a StopIteration would never leave the thread of a view: its request would hang
        raise LookupError(f"the page has no live part {part_id!r}")
    return SafeString(renderer.html(part))  # where every value is escaped


@register.simple_tag
def sheet(
    parts: Sequence[Part],
    label: str,
    headings: Iterable[Heading],
    *bodies: str,
    scrolls: bool = False,
    wide: bool = False,
) -> SafeString:
    """A table whose bodies are the live parts of those ids."""
    rows = [live(parts, body) for body in bodies]
    return SafeString(table_markup.sheet(label, headings, rows, scrolls=scrolls, wide=wide))


@register.simple_tag
def reachable_clusters(request: HttpRequest | None) -> tuple[str, ...]:
    """The clusters that this visitor can go to; none where it cannot be told who it is.

    A request that was refused at once, as by its Host header, has no user yet.
    """
    if request is None or not hasattr(request, "user"):
        return ()
    try:
        return gate.reachable(request)
    except (PermissionDenied, sessions.AwayError, db.Error):
        return ()


@register.filter
def sign_in(request: HttpRequest) -> str:
    """The address of the sign-in page, from which one comes back here."""
    return gate.sign_in(request)


@register.simple_tag
def home() -> str:
    """The address of the page of all clusters."""
    return links.own("/")


@register.filter
def address(cluster: str, path: str = "") -> str:
    """The address of a cluster's page."""
    return links.cluster(cluster, path)


@register.simple_tag
def severity(value: Severity, word: str = "") -> SafeString:
    """Glyph, word and colour of a severity."""
    return values.severity_html(value, word or value.value)


@register.filter
def grouped(number: int) -> str:
    """An integer with its thousands set apart."""
    return values.grouped(number)


@register.filter
def moment(epoch_ms: int) -> SafeString:
    """A `<time>` in UTC, which the script words as an age."""
    return times.time_html(epoch_ms)


@register.filter
def path(value: str) -> SafeString:
    """A znode's path with its copy button."""
    return values.path_html(value)
