"""A view as the document of a frame: the page's own live parts, in a base without navigation and cookies."""

from __future__ import annotations

from django.http import HttpResponse
from django.template.loader import render_to_string

from zkdash.access.embeds import View
from zkdash.live.snapshot import Snapshot
from zkdash.web.serving import embeddable, renderer


def page(view: View, snapshot: Snapshot, theme: str, socket: str = "") -> HttpResponse:
    """The document; without a `socket` it stays as it is. 404 where what it shows is not there (now)."""
    look = renderer.look(snapshot, embeddable.key(view), whole=True)
    context = {
        **look.context,
        "title": look.title,
        "parts": look.parts,
        "cluster": view.cluster,
        "home": embeddable.home(view),
        "theme": theme,
        "socket": socket,
        "revision_number": snapshot.revision,
        "as_of": snapshot.as_of,
        "as_of_ms": None if snapshot.as_of is None else int(snapshot.as_of * 1000),
    }
    return _answer(embeddable.KINDS[view.page].template, context, 404 if look.gone else 200)


def sentence(text: str, status: int, theme: str = "") -> HttpResponse:
    """A document that says why there is nothing to show."""
    return _answer("embeds/ended.html", {"title": "Embed", "sentence": text, "theme": theme}, status)


def _answer(template: str, context: dict[str, object], status: int) -> HttpResponse:
    """Rendered without the request, so that nothing of who asks gets in. Lone surrogates are written out."""
    markup = render_to_string(template, context)
    return HttpResponse(markup.encode("utf-8", "backslashreplace"), status=status)
