"""Links of a page of the past stay there: those of its cluster, to pages that have a past, get its moment.

Done once the page is made, since a link may come from a cell that is made once for many pages.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import urlencode

from django.http import HttpResponse

from zkdash.web.frame import links
from zkdash.web.past import asked
from zkdash.web.past.asked import At

# What a link back to now begins with; it is left as it is.
NOW: Final = 'class="now"'
_PAGES: Final = re.escape(links.own("/c/"))
_LINK: Final = re.compile(rf'(?<!{NOW})(\shref=")((?:{_PAGES}|\?)[^"#]*)(?=["#])')
# No name that anybody chose can look like it: its quotes would be escaped.
_HREF: Final = re.compile(rf'("(?:(?:\w+_)?href|address)": ")({_PAGES}[^"\\]*)(?=")')
_FORM: Final = re.compile(r'<form\b(?=[^>]*\smethod="get")[^>]*>')
_ACTION: Final = re.compile(r'\saction="([^"]*)"')
_HAS: Final = re.compile(rf"[?&;]{asked.NAME}=")
_kept: set[str] = {"report", "znode-data"}


def declare(routes: Iterable[str]) -> None:
    """Name the routes of the pages that have a past, as they follow the cluster's address."""
    _kept.update(route.partition("/")[0] for route in routes)
    _leads.cache_clear()


def kept(response: HttpResponse, cluster: str, at: At) -> HttpResponse:
    """The answer, whose links and forms ask for the moment too, and what JSON calls an address."""
    if location := response.get("Location"):
        response["Location"] = _with(location, cluster, at)
    kind = response.get("Content-Type", "").partition(";")[0]
    if kind not in {"text/html", "application/json"}:
        return response
    markup = response.content.decode("utf-8", "surrogateescape")
    stayed = _json(markup, cluster, at) if kind == "application/json" else _html(markup, cluster, at)
    response.content = stayed.encode("utf-8", "surrogateescape")
    if response.has_header("Content-Length"):
        response["Content-Length"] = str(len(response.content))
    return response


def _json(document: str, cluster: str, at: At) -> str:
    return _HREF.sub(lambda link: link[1] + _with(link[2], cluster, at), document)


def _html(markup: str, cluster: str, at: At) -> str:
    markup = _LINK.sub(lambda link: link[1] + html.escape(_with(html.unescape(link[2]), cluster, at)), markup)
    field = "".join(
        f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in at.pairs
    )
    return _FORM.sub(lambda form: form[0] + (field if _stays(form[0], cluster) else ""), markup)


def _with(address: str, cluster: str, at: At) -> str:
    """An address with the moment, where it leads to a page that has a past."""
    if _HAS.search(address) or not (address.startswith("?") or _leads(address.partition("?")[0], cluster)):
        return address
    joint = "" if address.endswith("?") else "&" if "?" in address else "?"
    return address + joint + urlencode(at.pairs)


def _stays(form: str, cluster: str) -> bool:
    action = _ACTION.search(form)
    return action is None or _leads(html.unescape(action[1]).partition("?")[0], cluster)


@lru_cache(maxsize=4096)
def _leads(path: str, cluster: str) -> bool:
    """Whether a path is that of a page of the cluster that has a past."""
    own = links.cluster(cluster)
    return path.startswith(own) and path.removeprefix(own).partition("/")[0] in _kept
