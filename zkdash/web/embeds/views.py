"""The frame and the badge behind the link of an embed. The link is enough: no visitor is identified."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from zkdash import live
from zkdash.access import embeds
from zkdash.access.embeds import Found, TokenStatus
from zkdash.live.snapshot import Snapshot
from zkdash.web.embeds import badges, policy, rendering
from zkdash.web.frame import banners, links
from zkdash.web.serving import embeddable, tokens

_ENDED: Final[dict[TokenStatus, tuple[int, str]]] = {
    TokenStatus.REVOKED: (410, "This embed was revoked."),
    TokenStatus.EXPIRED: (410, "This embed has expired."),
    TokenStatus.UNSEEN: (410, "This embed has ended: who made it may not see the cluster any more."),
    TokenStatus.NONE: (404, "There is no such embed."),
}


@require_safe
def frame(request: HttpRequest, token: str) -> HttpResponse:  # noqa: ARG001 - Django's
    """The view that the link is for, in the frames of the pages that were named for it."""
    judged = find(token)
    if judged is None:
        return policy.framed(rendering.sentence(_ENDED[TokenStatus.NONE][1], 404), ())
    return policy.framed(_frame(judged, token), judged.embed.parents.split())


@require_safe
def badge(request: HttpRequest, token: str) -> HttpResponse:  # noqa: ARG001 - Django's
    """The check or number that the link is for, as a small picture."""
    judged = find(token)
    standing = judged.standing if judged else TokenStatus.NONE
    if judged is None or standing is not TokenStatus.VALID:
        status, sentence = _ENDED[standing]
        return policy.picture(badges.picture(badges.ended(standing.value), status, sentence))
    view, snapshot = embeds.view(judged.embed), live.current(judged.embed.cluster)
    if not badges.has_one(view) or not embeddable.is_possible(view):
        sentence = "Only an embed of one check or one number has a badge."
        return policy.picture(badges.picture(badges.ended("no badge"), 404, sentence))
    embeds.note_use([judged.embed])
    return policy.picture(badges.picture(badges.of(view, snapshot)))


def find(token: str) -> Found | None:
    """The link of a token, with what it is worth now."""
    digest = embeds.digest(token)
    return embeds.read([digest], anonymous_reads=settings.ZKDASH_ANONYMOUS_READ).get(digest)


def _frame(judged: Found, token: str) -> HttpResponse:
    embed, standing = judged
    if standing is not TokenStatus.VALID:
        status, sentence = _ENDED[standing]
        return rendering.sentence(sentence, status, embed.theme)
    view, snapshot = embeds.view(embed), live.current(embed.cluster)
    if not embeddable.is_possible(view):
        return rendering.sentence("This zkdash does not know that view any more.", 410, embed.theme)
    embeds.note_use([embed])
    if snapshot is None:
        if embed.cluster not in {cluster.name for cluster in settings.ZKDASH_CLUSTERS}:
            return rendering.sentence(
                "The cluster of this embed is not configured any more.", 404, embed.theme
            )
        return rendering.sentence(banners.no_watcher(), 503, embed.theme)
    return rendering.page(view, snapshot, embed.theme, _socket(view, snapshot, token))


def _socket(view: embeds.View, snapshot: Snapshot, token: str) -> str:
    begin = tokens.of(embeddable.key(view), snapshot.revision)
    return links.live(links.own(f"/embed/{token}/?from={begin}"))
