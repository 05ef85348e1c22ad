"""The views: one serves every page of a cluster, whole, as JSON or as CSV; one the list of clusters."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.http import require_safe

from zkdash import live
from zkdash.access.roles import Role
from zkdash.live.parts import PageKey, Rendered
from zkdash.live.snapshot import Snapshot
from zkdash.web import pages
from zkdash.web.differences import query as difference_query
from zkdash.web.frame import answers, exports, links
from zkdash.web.frame.answers import CSV, HTML, JSON
from zkdash.web.frame.page import Page, View, without_query
from zkdash.web.frame.subjects import Subject
from zkdash.web.overview import clusters
from zkdash.web.past import asked, bar, handlers
from zkdash.web.serving import embeddable, page_context, renderer, tokens
from zkdash.web.visitors import gate

# Where the way to the past leads from a page of now; its bar of time leads on.
_A_WHILE_AGO = "-15m"
_LIST_NO_PAST = "The list of clusters has no past: open one of them, and ask for its."


class Moment(msgspec.Struct, frozen=True):
    """What a page was made of: the rendered revision, its staleness, and the sentences above it.

    `reads` tells that it shows more than its snapshot holds. `path` is its address, `status` the answer's.
    `told` is what came of what was asked for.
    """

    key: PageKey
    rendered: Rendered
    stale: bool
    notes: tuple[str, ...] = ()
    snapshot: Snapshot | None = None
    template: str = "overview/clusters.html"
    reads: bool = False
    path: str = "/"
    status: int = 200
    told: str = ""


@require_safe
def cluster_page(request: HttpRequest, page: Page, cluster: str, **args: str) -> HttpResponse:
    """Any page of a cluster, as it is or as it was."""

    def as_it_is() -> HttpResponse:
        return show(request, page, cluster, tuple(args.values()))

    if not (asked.is_asked(request) or asked.SINCE in request.GET):
        return as_it_is()
    canonical, _ = page.canonical(request.META.get("QUERY_STRING", ""))
    subject = _about(PageKey(cluster, page.name, tuple(args.values()), canonical))
    if asked.SINCE in request.GET and not (page.compares or page.no_past):
        return _compared(request, page, cluster, subject)
    if asked.is_asked(request, compares=page.compares):
        return handlers.answer(
            request,
            cluster,
            as_it_is,
            no_past=page.no_past,
            compares=page.compares,
            below=() if subject is None else subject.paths,
        )
    return as_it_is()


def _about(key: PageKey) -> Subject | None:
    """What a page is about, None where that is the whole cluster."""
    subject_of = pages.BY_NAME[key.page].subject_of
    return None if subject_of is None else subject_of(key)


def _compared(request: HttpRequest, page: Page, cluster: str, subject: Subject | None) -> HttpResponse:
    """Where what differs is told of what a page shows: `?from=` of one that does not compare leads there."""
    gate.cluster(request, cluster)
    moments = [(name, request.GET[name]) for name in (asked.SINCE, asked.NAME) if name in request.GET]
    if subject is not None:
        moments += subject.pairs
    elif page.name in difference_query.AREAS:
        moments.append(("area", page.name))
    if "format" in request.GET:
        moments.append(("format", request.GET["format"]))
    return HttpResponseRedirect(links.cluster(cluster, difference_query.ROUTE, links.query(moments)))


def show(
    request: HttpRequest,
    page: Page,
    cluster: str,
    args: tuple[str, ...],
    *,
    path: str = "",
    notes: tuple[str, ...] = (),
    status: int = 200,
    notice: str = "",
) -> HttpResponse:
    """A page of a cluster, as the answer to a request for `path` (its own where none is given).

    `notes` are said above it, before those about its query; `notice` where the page has it said.
    """
    snapshot = gate.snapshot(request, cluster)
    canonical, strange = page.canonical(request.META.get("QUERY_STRING", ""))
    key = _seen(request, PageKey(cluster, page.name, args, canonical))
    if snapshot.past is not None:  # where nobody acts
        key = key._replace(rights=Role.VIEWER.value)
    moment = Moment(
        key=key,
        rendered=Rendered((), snapshot.revision, snapshot.state.zxid, snapshot.as_of),
        stale=snapshot.stale,
        notes=(*notes, *strange),
        snapshot=snapshot,
        template=page.template,
        reads=page.whole is not None,
        path=path or request.path,
        status=status,
        told=notice,
    )
    return _answer(request, moment, lambda: renderer.look(snapshot, key, whole=True))


@require_safe
def cluster_list(request: HttpRequest) -> HttpResponse:
    """The clusters; a person with only one goes straight to it."""
    gate.somebody(request)
    if asked.is_asked(request):
        return answers.problem(request, 400, "No past of its own", _LIST_NO_PAST)
    key = _seen(request, PageKey(None, clusters.NAME))
    watched = [name for name in key.args if live.current(name)]
    if len(watched) == 1 and answers.shape(request) == HTML:
        return HttpResponseRedirect(links.cluster(watched[0]))
    rendered = Rendered((), clusters.revision(key.args), None, clusters.as_of(key.args))
    moment = Moment(
        key=key,
        rendered=rendered,
        stale=clusters.stale(key.args),
        notes=without_query(request.META.get("QUERY_STRING", ""))[1],
    )
    return _answer(request, moment, lambda: clusters.view(key.args))


def _seen(request: HttpRequest, key: PageKey) -> PageKey:
    """The page as this visitor sees it, whom the gate has let in."""
    seen = gate.seen_by(key, gate.rights(request))
    assert seen is not None, "the gate lets nobody in who may not see"  # noqa: S101
    return seen


def _answer(request: HttpRequest, moment: Moment, look: Callable[[], View]) -> HttpResponse:
    """304 where the browser has this very revision, else the page in the format that was asked for."""
    shape = answers.shape(request)
    read = look() if moment.reads else None
    etag = _etag(request, moment, shape, read and read.version)
    response = get_conditional_response(request, etag=etag)
    if response is None:
        view = read or look()
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
    past = None if snapshot is None else snapshot.past
    # What was read beside the snapshot may be newer than what sockets were sent: such a page asks for all.
    token = "" if moment.reads else tokens.of(moment.key, rendered.revision)
    context = {
        **view.context,
        **page_context.of(request, snapshot, moment.key, view.title),
        "parts": view.parts,
        "gone": view.gone,
        "notes": moment.notes,
        "told": moment.told,
        "revision_number": rendered.revision,
        "as_of": rendered.as_of,
        "as_of_ms": None if rendered.as_of is None else int(rendered.as_of * 1000),
        "socket": _socket(moment, token) if live.is_running() and past is None else "",
        "refresh": view.context.get("refresh", True) and past is None,
        "embed": _embed(moment.key) if past is None else "",
        "past": None
        if past is None or snapshot is None
        else bar.of(snapshot.cluster, past, request.path, request.GET, _about(moment.key)),
        "was": _was(request, moment),
        "csv": _other(request, CSV),
        "json": _other(request, JSON),
    }
    markup = render_to_string(moment.template, context, request)
    # A lone surrogate in somebody's name cannot be sent as UTF-8: it is written out.
    status = 404 if view.gone else moment.status
    return HttpResponse(markup.encode("utf-8", "backslashreplace"), status=status)


def _socket(moment: Moment, token: str) -> str:
    """The address of the page's socket: its own, under /live, with the revision that it shows."""
    query = f"{moment.key.query}&from={token}" if moment.key.query else f"from={token}"
    return f"{links.live(links.quoted(moment.path))}?{query}"


def _embed(key: PageKey) -> str:
    """Where an embed of this very page is made, with what it was asked for; "" without a cluster."""
    if key.cluster is None:
        return ""
    return links.cluster(key.cluster, "embeds/", urlencode(embeddable.filled(key), errors="surrogatepass"))


def _was(request: HttpRequest, moment: Moment) -> str:
    """The address of the same page as it was a while ago, "" where there is none."""
    if moment.snapshot is None or moment.snapshot.past is not None or pages.BY_NAME[moment.key.page].no_past:
        return ""
    query = request.GET.copy()
    query[asked.NAME] = _A_WHILE_AGO
    return f"?{query.urlencode()}"


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
    if moment.snapshot is not None and moment.snapshot.past is not None:
        head["past"] = bar.record(moment.snapshot.past)
    if moment.notes:
        head["notes"] = list(moment.notes)
    return head


def _etag(request: HttpRequest, moment: Moment, shape: str, version: object) -> str:
    """Of all that makes the answer: what is shown, and as whom. A page names its visitor, and its button to
    sign out holds what the browser's CSRF cookie must fit."""
    rights = gate.rights(request)
    proof = request.COOKIES.get(settings.CSRF_COOKIE_NAME) if rights.is_signed_in else None
    parts = (
        (live.STARTED, moment.rendered.revision, moment.stale, moment.key, moment.notes, shape, version),
        (rights, gate.visible(rights), proof),
        moment.snapshot and moment.snapshot.past and bar.identity(moment.snapshot.past),
    )
    digest = hashlib.blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=12)
    return f'"{digest.hexdigest()}"'
