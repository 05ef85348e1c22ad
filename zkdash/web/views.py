"""The views: one serves every page of a cluster, whole, as JSON or as CSV; one the list of clusters."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.http import require_safe

from zkdash import live
from zkdash.live.parts import PageKey, Rendered
from zkdash.live.snapshot import Snapshot
from zkdash.web import banners, exports, links, pages, renderer, switcher
from zkdash.web.page import Page, View, without_query
from zkdash.web.pages import clusters

HTML, JSON, CSV = "html", "json", "csv"


class Moment(msgspec.Struct, frozen=True):
    """What a page was made of: the rendered revision, its staleness, and the sentences about its query."""

    key: PageKey
    rendered: Rendered
    stale: bool
    notes: tuple[str, ...] = ()
    snapshot: Snapshot | None = None
    template: str = "pages/clusters.html"


@require_safe
def cluster_page(request: HttpRequest, page: Page, cluster: str, **args: str) -> HttpResponse:
    """Any page of a cluster."""
    snapshot = live.current(cluster)
    if snapshot is None:
        return _no_cluster(request, cluster)
    canonical, notes = page.canonical(request.META.get("QUERY_STRING", ""))
    key = PageKey(cluster, page.name, tuple(args.values()), canonical)
    moment = Moment(
        key=key,
        rendered=Rendered((), snapshot.revision, snapshot.state.zxid, snapshot.as_of),
        stale=snapshot.stale,
        notes=notes,
        snapshot=snapshot,
        template=page.template,
    )
    return _answer(request, moment, lambda: renderer.look(snapshot, key))


@require_safe
def cluster_list(request: HttpRequest) -> HttpResponse:
    """The clusters; a person with only one goes straight to it."""
    names = live.names()
    if len(names) == 1 and _format(request) == HTML:
        return HttpResponseRedirect(links.cluster(names[0]))
    rendered = Rendered((), clusters.revision(), None, clusters.as_of())
    moment = Moment(
        key=PageKey(None, clusters.NAME),
        rendered=rendered,
        stale=clusters.stale(),
        notes=without_query(request.META.get("QUERY_STRING", ""))[1],
    )
    return _answer(request, moment, clusters.view)


def _answer(request: HttpRequest, moment: Moment, look: Callable[[], View]) -> HttpResponse:
    """304 where the browser has this very revision, else the page in the format that was asked for."""
    shape = _format(request)
    etag = _etag(moment, shape)
    response = get_conditional_response(request, etag=etag)
    if response is None:
        view = look()
        if view.elsewhere and shape == HTML:
            return HttpResponseRedirect(view.elsewhere)
        if shape == JSON:
            response = exports.as_json(view, _head(moment))
        elif shape == CSV:
            response = exports.as_csv(view, "-".join(filter(None, (moment.key.cluster, moment.key.page))))
        else:
            response = _page(request, moment, view)
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    # A 304 renews these headers of the copy that the browser holds, so a poll learns the age without a body.
    response["Zkdash-Revision"] = str(moment.rendered.revision)
    response["Zkdash-As-Of"] = "" if moment.rendered.as_of is None else f"{moment.rendered.as_of:.3f}"
    patch_vary_headers(response, ["Accept"])
    return response


def _page(request: HttpRequest, moment: Moment, view: View) -> HttpResponse:
    snapshot, rendered = moment.snapshot, moment.rendered
    token = f"{live.STARTED}.{rendered.revision}"
    context = {
        **view.context,
        "title": view.title,
        "parts": view.parts,
        "gone": view.gone,
        "notes": moment.notes,
        "pages": pages.PAGES,
        "cluster": moment.key.cluster,
        "address": snapshot.address if snapshot else "",
        "switches": switcher.entries(moment.key),
        "chroot": _chroot(snapshot.address) if snapshot else "",
        "worst": banners.worst(snapshot) if snapshot else "",
        "revision": token,
        "revision_number": rendered.revision,
        "as_of": rendered.as_of,
        "as_of_ms": None if rendered.as_of is None else int(rendered.as_of * 1000),
        "socket": _socket(request, moment.key, token) if live.is_running() else "",
        "refresh": True,
        "csv": _other(request, CSV),
        "json": _other(request, JSON),
    }
    markup = render_to_string(moment.template, context, request)
    # A lone surrogate in somebody's name cannot be sent as UTF-8: it is written out.
    return HttpResponse(markup.encode("utf-8", "backslashreplace"), status=404 if view.gone else 200)


def _socket(request: HttpRequest, key: PageKey, token: str) -> str:
    """The address of the page's socket: its own, under /live, with the revision that it shows."""
    query = f"{key.query}&from={token}" if key.query else f"from={token}"
    return f"/live{links.quoted(request.path)}?{query}"


def _other(request: HttpRequest, shape: str) -> str:
    """The address of the same query in another format."""
    query = request.GET.copy()
    query["format"] = shape
    return f"?{query.urlencode()}"


def _head(moment: Moment) -> dict[str, Any]:
    rendered = moment.rendered
    head: dict[str, Any] = {
        "cluster": moment.key.cluster,
        "page": moment.key.page,
        "revision": rendered.revision,
        "zxid": rendered.zxid,
        "as_of": exports.instant(rendered.as_of),
        "stale": moment.stale,
    }
    if moment.notes:
        head["notes"] = list(moment.notes)
    return head


def _format(request: HttpRequest) -> str:
    """`?format=` wins; else JSON for who prefers it to HTML."""
    wanted = request.GET.get("format", "")
    if wanted in {JSON, CSV, HTML}:
        return wanted
    preferred = request.get_preferred_type(["text/html", "application/json", "text/csv"])
    return {"application/json": JSON, "text/csv": CSV}.get(preferred or "", HTML)


def _etag(moment: Moment, shape: str) -> str:
    parts = (live.STARTED, moment.rendered.revision, moment.stale, moment.key, moment.notes, shape)
    digest = hashlib.blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=12)
    return f'"{digest.hexdigest()}"'


def _chroot(address: str) -> str:
    _, slash, chroot = address.partition("/")
    return slash + chroot


def _no_cluster(request: HttpRequest, cluster: str) -> HttpResponse:
    """A cluster that no watcher of this process knows: not running here, or not configured at all."""
    configured = [config.name for config in settings.ZKDASH_CLUSTERS]
    if cluster in configured:
        return problem(request, 503, "Not watched here", banners.NO_WATCHER)
    known = ", ".join(live.names() or configured) or "none"
    sentence = f"No cluster named “{cluster}” is configured. Configured: {known}."
    return problem(request, 404, "No such cluster", sentence)


def problem(request: HttpRequest, status: int, title: str, sentence: str) -> HttpResponse:
    """A page, or JSON, that says in a sentence why there is nothing else to show."""
    if _format(request) == JSON:
        return exports.json_response({"error": sentence}, status)
    return render(request, "problem.html", {"title": title, "sentence": sentence}, status=status)
