"""Links that show one view to whoever has them, without signing in: what each is worth now.

A link's token is told once, to who makes it; the database keeps its SHA-256, and nothing of it comes from
Django's secret key. It shows what its maker may see, as long as the maker may see it.
"""

from __future__ import annotations

import enum
import hashlib
import json
import re
import secrets
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec
from django.contrib.auth.models import User
from django.db import InternalError, OperationalError
from django.db.models import Q
from django.utils import timezone

from zkdash.access import rights
from zkdash.access.models import Embed
from zkdash.access.rights import Rights
from zkdash.access.roles import Right, Role

MOST_PARENTS = 10
MOST_DAYS = 366
_NOTED_EVERY = timedelta(minutes=1)
# What a policy's frame-ancestors takes as the address of one host (CSP 3, 2.3.1): no path, no IPv6.
_ORIGIN = re.compile(r"(https?)://([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?::([1-9][0-9]{0,4}))?")
_USUAL = {"http": "80", "https": "443"}


class View(msgspec.Struct, frozen=True):
    """What one link shows: a page of a cluster with its arguments and its canonical query."""

    cluster: str
    page: str
    args: tuple[str, ...] = ()
    query: str = ""


class TokenStatus(enum.Enum):
    """What a link is worth."""

    VALID = "valid"
    REVOKED = "revoked"
    EXPIRED = "expired"
    UNSEEN = "unseen"  # its maker is gone, inactive, or may not see the cluster any more
    NONE = "none"


class Found(NamedTuple):
    """A link as it is kept, and what it is worth now."""

    embed: Embed
    standing: TokenStatus


class OriginError(ValueError):
    """The text is not an origin; the message is one sentence."""


def digest(token: str) -> str:
    """What the database keeps of a token: 64 hexadecimal digits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def create(
    maker: User, view: View, *, parents: Iterable[str], theme: str, valid_for: timedelta
) -> tuple[str, Embed]:
    """A new link: its token (256 random bits, told this once) and what is kept of it.

    `parents` are origins as `origin` returns them; none means that no page may frame it. `theme` is "light",
    "dark", or "" for what the viewer prefers.
    """
    token, now = secrets.token_urlsafe(32), timezone.now()
    made = Embed.objects.create(
        digest=digest(token),
        maker=maker,
        cluster=view.cluster,
        page=view.page,
        args=json.dumps(view.args),
        query=view.query,
        theme=theme,
        parents=" ".join(parents),
        made_at=now,
        expires_at=now + valid_for,
    )
    return token, made


def view(embed: Embed) -> View:
    """What a link shows."""
    return View(embed.cluster, embed.page, tuple(json.loads(embed.args)), embed.query)


def revoke(embed: Embed) -> bool:
    """End a link for good; False where it was revoked before."""
    return bool(Embed.objects.filter(pk=embed.pk, revoked_at=None).update(revoked_at=timezone.now()))


def read(digests: Collection[str], *, anonymous_reads: bool) -> Mapping[str, Found]:
    """The links of these digests, by digest, in a handful of queries; what is none is left out."""
    if not digests:
        return {}
    return judged(Embed.objects.filter(digest__in=digests), anonymous_reads=anonymous_reads)


def rights_of(digests: Collection[str], *, anonymous_reads: bool) -> Mapping[str, Rights]:
    """What an open connection may still see that came with each digest: one cluster, or nothing."""
    links = read(digests, anonymous_reads=anonymous_reads)
    valid = {key: link.embed for key, link in links.items() if link.standing is TokenStatus.VALID}
    note_use(valid.values())
    return {
        key: Rights(grants=((valid[key].cluster, Role.VIEWER),)) if key in valid else Rights()
        for key in digests
    }


def judged(embeds: Iterable[Embed], *, anonymous_reads: bool) -> Mapping[str, Found]:
    """What each link is worth now, by digest, in their order."""
    links = tuple(embeds)
    users = User.objects.filter(pk__in={link.maker_id for link in links}, is_active=True)
    rights_by_maker = rights.of_users(tuple(users), anonymous_reads=anonymous_reads)
    now = timezone.now()
    return {
        link.digest: Found(link, _standing(link, rights_by_maker.get(link.maker_id), now)) for link in links
    }


def note_use(embeds: Iterable[Embed]) -> None:
    """Keep that links were used just now; what was noted within the last minute is not written again."""
    now = timezone.now()
    old = [link.pk for link in embeds if link.last_used_at is None or now - link.last_used_at >= _NOTED_EVERY]
    if old:
        stale = Q(last_used_at=None) | Q(last_used_at__lte=now - _NOTED_EVERY)
        with suppress(OperationalError, InternalError):  # a full disk takes nobody's sight away
            Embed.objects.filter(stale, pk__in=old).update(last_used_at=now)


def origin(text: str) -> str:
    """An origin (scheme://host or scheme://host:port) in the one way that browsers write it.

    Raises OriginError.
    """
    given = text.lower().removesuffix("/")
    match = _ORIGIN.fullmatch(given)
    if match is None or ".." in match[2] or int(match[3] or 1) > 65_535:
        shown = text if len(text) <= 100 else f"{text[:100]}…"
        raise OriginError(
            f"“{shown}” is not an origin. Write one as https://wiki.example.org or http://10.0.0.7:8080, "
            "without a path; names outside ASCII in their xn-- form, no IPv6 address."
        )
    scheme, host, port = match.groups()
    return f"{scheme}://{host}" if port in {None, _USUAL[scheme]} else f"{scheme}://{host}:{port}"


def _standing(embed: Embed, maker: Rights | None, now: datetime) -> TokenStatus:
    if embed.revoked_at is not None:
        return TokenStatus.REVOKED
    if embed.expires_at <= now:
        return TokenStatus.EXPIRED
    if maker is None or not maker.may(Right.SEE, embed.cluster):
        return TokenStatus.UNSEEN
    return TokenStatus.VALID
