"""What people do about bookmarks by a button: keep a moment or a time, remove what was kept."""

from __future__ import annotations

import time
from typing import Final, NamedTuple

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST

from zkdash.access.models import Bookmark
from zkdash.access.rights import Rights
from zkdash.access.roles import Right
from zkdash.actions import audit
from zkdash.history.queries import keeping, moment
from zkdash.history.queries.instants import Instant
from zkdash.history.queries.keeping import TooLargeError
from zkdash.history.queries.moment import MomentError
from zkdash.history.store import directories, kept
from zkdash.history.store.tables import Tables
from zkdash.web.bookmarks import bookmarks as page
from zkdash.web.bookmarks import places
from zkdash.web.bookmarks.places import MOST_NOTE, TooManyError
from zkdash.web.commands import verbs
from zkdash.web.frame import links
from zkdash.web.history import recorded
from zkdash.web.history.recorded import UnansweredError
from zkdash.web.past import asked
from zkdash.web.past.asked import At, UnreadableError
from zkdash.web.serving import views
from zkdash.web.visitors import gate

_SEE_OTHER: Final = 303
_CONFLICT: Final = 409


class _RefusedError(Exception):
    """It is not kept; one sentence says why."""


class _Asked(NamedTuple):
    """What is to be kept, and for whom; `since` is None of a single moment."""

    rights: Rights
    cluster: str
    note: str
    since: At | None
    until: At


@require_POST
def keep(request: HttpRequest, cluster: str) -> HttpResponse:
    """Keep what is recorded of a moment, or from one to another; the page again where it cannot be (409)."""
    gate.snapshot(request, cluster, Right.ACT)
    try:
        wanted = _read(request, cluster)
        recorded.anew(cluster, moment.TABLES, lambda tables: _keep(tables, wanted))
    except (_RefusedError, UnreadableError, UnansweredError) as error:
        return views.show(
            request,
            page.PAGE,
            cluster,
            (),
            path=links.cluster(cluster, page.ROUTE),
            notes=(f"Nothing was kept: {error}",),
            status=_CONFLICT,
        )
    return _back(cluster)


@require_POST
def remove(request: HttpRequest, cluster: str, number: int) -> HttpResponse:
    """Remove one, its tables with it: one's own, or any where one administers the cluster."""
    rights = gate.cluster(request, cluster, Right.ACT)
    bookmark = Bookmark.objects.filter(cluster=cluster, pk=number).first()
    if bookmark is None:
        raise Http404(f"There is no bookmark {number} of “{cluster}”.")
    if not places.may_remove(rights, bookmark):
        raise PermissionDenied(f"Who kept bookmark {number}, or administers the cluster, can remove it.")
    kept.remove(directories.directory(settings.ZKDASH_HISTORY, cluster), number)
    with transaction.atomic():
        _tell("bookmark-removed", rights, bookmark)
        bookmark.delete()
    return _back(cluster)


def _read(request: HttpRequest, cluster: str) -> _Asked:
    note = request.POST.get("note", "").strip()
    if not note or len(note) > MOST_NOTE or "\0" in note:
        raise _RefusedError(
            f"write a note of 1 to {MOST_NOTE} characters without NUL, by which others know what it was."
        )
    now_ms = int(time.time() * 1000)
    since = request.POST.get(page.SINCE, "").strip()
    until = request.POST.get(page.UNTIL, "").strip() or links.LATEST
    return _Asked(
        gate.rights(request),
        cluster,
        note,
        asked.moment(since, page.SINCE, now_ms) if since else None,
        asked.moment(until, page.UNTIL, now_ms),
    )


def _keep(tables: Tables, wanted: _Asked) -> None:
    """Claim a place, write its tables, and tell the audit. Raises _RefusedError, QueryError."""
    try:
        until = keeping.instant(tables, wanted.until.time_ms, wanted.until.zxid)
        since = None
        if wanted.since is not None:
            since = keeping.instant(tables, wanted.since.time_ms, wanted.since.zxid)
        if since is not None and since.zxid > until.zxid:
            raise _RefusedError("its first moment is later than its last.")
        bookmark = places.claim(wanted.rights, _bookmark(wanted, since, until))
    except (MomentError, TooManyError) as error:
        raise _RefusedError(f"{error}.") from error
    directory = directories.directory(settings.ZKDASH_HISTORY, wanted.cluster)
    try:
        bookmark.bytes = keeping.keep(
            tables,
            directory,
            bookmark.pk,
            since or until,
            until,
            most_bytes=settings.ZKDASH_LIMITS.bookmark_bytes,
        )
    except BaseException as error:
        bookmark.delete()
        if isinstance(error, MomentError | TooLargeError):
            raise _RefusedError(f"{error}.") from error
        if isinstance(error, OSError):
            raise _RefusedError(f"its tables cannot be written: {error.strerror}.") from error
        raise
    with transaction.atomic():
        bookmark.save()
        _tell("bookmark-kept", wanted.rights, bookmark)


def _bookmark(wanted: _Asked, since: Instant | None, until: Instant) -> Bookmark:
    return Bookmark(
        cluster=wanted.cluster,
        note=wanted.note,
        from_zxid=None if since is None else since.zxid,
        from_ms=None if since is None else since.time_ms,
        zxid=until.zxid,
        time_ms=until.time_ms,
    )


def _tell(event: str, rights: Rights, bookmark: Bookmark) -> None:
    since = "" if bookmark.from_zxid is None else f"{links.at_zxid(bookmark.from_zxid)} to "
    detail = {"what": bookmark.note, "name": f"{since}{links.at_zxid(bookmark.zxid)}"}
    audit.append(event, verbs.who(rights), cluster=bookmark.cluster, detail=detail)


def _back(cluster: str) -> HttpResponse:
    answer = HttpResponseRedirect(links.cluster(cluster, page.ROUTE))
    answer.status_code = _SEE_OTHER
    return answer
