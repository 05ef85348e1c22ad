"""The page of a cluster's embeds: make one, look at it beforehand, copy it, revoke it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast
from urllib.parse import urlencode

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from zkdash.access import embeds
from zkdash.access.embeds import Found, TokenStatus
from zkdash.access.models import Embed
from zkdash.access.rights import Rights
from zkdash.access.roles import Right
from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.cluster.model.severity import Severity
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.embeds import badges, policy, rendering
from zkdash.web.embeds.forms import EmbedForm, ViewForm
from zkdash.web.frame import links
from zkdash.web.middleware import headers
from zkdash.web.serving import embeddable, page_context
from zkdash.web.visitors import gate

_MOST_LISTED = 500
_SEE_OTHER, _UNPROCESSABLE = 303, 422
_WORDS = {
    TokenStatus.VALID: (Severity.OK, "in use"),
    TokenStatus.REVOKED: (Severity.UNKNOWN, "revoked"),
    TokenStatus.EXPIRED: (Severity.UNKNOWN, "expired"),
    TokenStatus.UNSEEN: (Severity.UNKNOWN, "its maker may not see the cluster"),
}
_SHOWN = ("view", "name", "query", "theme")


class Line(msgspec.Struct, frozen=True):
    """One embed in the list."""

    id: int
    shows: str
    href: str
    maker: str
    parents: tuple[str, ...]
    severity: Severity
    words: str
    made: int
    expires: str
    used: int | None
    is_valid: bool


class Made(msgspec.Struct, frozen=True):
    """What can be copied of an embed that was just made: shown this once. Other pages may frame it or not."""

    snippet: str
    badge: str
    is_framed: bool


@require_http_methods(["GET", "HEAD", "POST"])
def manage(request: HttpRequest, cluster: str) -> HttpResponse:
    """The embeds that one may see, and for who may act the form; POST with do=create makes one."""
    posted = request.method == "POST"
    snapshot = gate.snapshot(request, cluster, Right.ACT if posted else Right.SEE)
    rights = gate.rights(request)
    if not posted:
        given = {name: request.GET[name] for name in _SHOWN if name in request.GET}
        form = EmbedForm(cluster, snapshot.state, initial=given)
        return _page(request, snapshot, form)
    form = EmbedForm(cluster, snapshot.state, request.POST)
    if not form.is_valid():
        return _page(request, snapshot, form, status=_UNPROCESSABLE)
    if request.POST.get("do") != "create":
        return _page(request, snapshot, form)
    return _page(request, snapshot, form, made=_create(request, rights, form))


@require_safe
def preview(request: HttpRequest, cluster: str) -> HttpResponse:
    """A view as it would stand in a frame, for our own page and who may see the cluster anyway."""
    snapshot = gate.snapshot(request, cluster)
    form = ViewForm(cluster, snapshot.state, request.GET)
    if not form.is_valid():
        words = " ".join(str(sentence) for sentences in form.errors.values() for sentence in sentences)
        return policy.framed(rendering.sentence(words, 400), [policy.OURSELVES])
    answer = rendering.page(form.shows, snapshot, form.cleaned_data["theme"])
    return policy.framed(answer, [policy.OURSELVES])


@require_POST
def revoke(request: HttpRequest, cluster: str, number: int) -> HttpResponse:
    """End an embed: one's own, or any where one is the cluster's admin."""
    rights = gate.cluster(request, cluster)
    if not rights.is_signed_in:
        raise gate.SignInNeeded
    embed = _visible(rights, cluster).filter(pk=number).first()
    if embed is None:
        raise Http404(f"You have no embed {number} of “{cluster}”.")
    with transaction.atomic():
        if embeds.revoke(embed):
            _tell("embed-revoked", rights, embed)
    answer = HttpResponseRedirect(links.cluster(cluster, "embeds/"))
    answer.status_code = _SEE_OTHER
    return answer


@sensitive_variables("token")
def _create(request: HttpRequest, rights: Rights, form: EmbedForm) -> Made:
    """Keep the embed, tell the audit, and word what its maker copies."""
    if rights.scope is not None or not isinstance(request.user, User):
        raise PermissionDenied("Embeds are made by who signs in, not by a token, which they would outlive.")
    view = form.shows
    with transaction.atomic():
        token, made = embeds.create(
            request.user,
            view,
            parents=form.cleaned_data["parents"],
            theme=form.cleaned_data["theme"],
            valid_for=form.valid_for,
        )
        _tell("embed-made", rights, made)
    address = request.build_absolute_uri(links.own(f"/embed/{token}/"))
    context = {"address": address, "title": f"{embeddable.words(view)}, {view.cluster}"}
    snippet = render_to_string("embeds/snippet.html", context).strip()
    badge = f"{address}badge.svg" if badges.has_one(view) else ""
    return Made(snippet, badge, bool(made.parents))


def _tell(event: str, rights: Rights, embed: Embed) -> None:
    """The audit hears of every embed; of its token it hears nothing."""
    detail = {
        "embed": embed.pk,
        "shows": embeddable.words(embeds.view(embed)),
        "parents": embed.parents.split(),
        "expires": embed.expires_at.isoformat(timespec="seconds"),
    }
    audit.append(event, Actor(rights.name, rights.user_id), cluster=embed.cluster, detail=detail)


def _visible(rights: Rights, cluster: str) -> Any:
    """One's own embeds of a cluster, all of them for its admin."""
    visible = Embed.objects.filter(cluster=cluster).select_related("maker").order_by("-id")
    return visible if rights.may(Right.ADMINISTER, cluster) else visible.filter(maker_id=rights.user_id)


def _lines(rights: Rights, cluster: str) -> list[Line]:
    if not rights.is_signed_in:
        return []
    listed = _visible(rights, cluster)[:_MOST_LISTED]
    judged = embeds.judged(listed, anonymous_reads=settings.ZKDASH_ANONYMOUS_READ)
    return [_line(embed) for embed in judged.values()]


def _line(judged: Found) -> Line:
    embed, (severity, words) = judged.embed, _WORDS[judged.standing]
    view = embeds.view(embed)
    return Line(
        id=embed.pk,
        shows=embeddable.words(view),
        href=embeddable.home(view) if embeddable.is_possible(view) else links.cluster(view.cluster),
        maker=embed.maker.get_username(),
        parents=tuple(embed.parents.split()),
        severity=severity,
        words=words,
        made=_ms(embed.made_at),
        expires=f"{embed.expires_at:%Y-%m-%d %H:%M} UTC",
        used=None if embed.last_used_at is None else _ms(embed.last_used_at),
        is_valid=judged.standing is TokenStatus.VALID,
    )


def _ms(when: datetime) -> int:
    return int(when.timestamp() * 1000)


def _page(
    request: HttpRequest, snapshot: Snapshot, form: EmbedForm, *, made: Made | None = None, status: int = 200
) -> HttpResponse:
    rights, cluster = gate.rights(request), snapshot.cluster
    shows = _previewed(form)
    context = {
        **page_context.with_chrome(request, snapshot, PageKey(cluster, "embeds"), "Embeds"),
        "form": form if rights.may(Right.ACT, cluster) and rights.is_signed_in else None,
        "lines": _lines(rights, cluster),
        "sees_all": rights.is_signed_in and rights.may(Right.ADMINISTER, cluster),
        "preview": shows and links.cluster(cluster, "embeds/preview/", shows),
        "made": made,
    }
    markup = render_to_string("embeds/manager.html", context, request)
    answer = HttpResponse(markup.encode("utf-8", "backslashreplace"), status=status)
    answer["Cache-Control"] = "private, no-store"
    answer["Content-Security-Policy"] = f"{headers.POLICY}; frame-src 'self'"
    return answer


def _previewed(form: EmbedForm) -> str:
    """The query of the preview: of what was sent, else of what the address of the page names."""
    if form.is_bound:
        given: dict[str, Any] = dict(form.cleaned_data) if form.is_valid() else {}
    else:
        given = cast("dict[str, Any]", form.initial) if form.initial.get("view") else {}
    return urlencode({name: given[name] for name in _SHOWN if given.get(name)}, errors="surrogatepass")
