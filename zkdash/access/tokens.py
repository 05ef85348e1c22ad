"""Personal tokens: made once, shown once, worth what their user may do now within their scope.

A token is 32 random bytes, so that its plain SHA-256 tells nothing about it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec
from django.contrib.auth.models import User
from django.db import InternalError, OperationalError
from django.db.models import Q
from django.utils import timezone

from zkdash.access import rights
from zkdash.access.models import Token
from zkdash.access.rights import Rights
from zkdash.access.roles import Role

LONGEST = timedelta(days=366)
_BEGINS = "zkd_"
_FORM = re.compile(r"zkd_[A-Za-z0-9_-]{43}")
_SHOWN = 8
_NOTED_EVERY = timedelta(minutes=1)


class ScopeError(ValueError):
    """The token that was asked for cannot be; the message is a sentence."""


def make(
    user: User, name: str, *, clusters: str, role: Role, expires_at: datetime, rights: Rights
) -> tuple[Token, str]:
    """A new token of a user with these rights, and its text, which nobody can have again.

    Raises ScopeError where the role is above all that the user has, or where it would last over a year.
    """
    strongest = max((role for _, role in rights.grants), key=lambda role: role.rank, default=None)
    if strongest is None or role.rank > strongest.rank:
        raise ScopeError(f"You are {strongest.value if strongest else 'nothing'} at most: no {role.value}.")
    now = timezone.now()
    if not now < expires_at <= now + LONGEST:
        raise ScopeError("A token ends within a year.")
    text = _BEGINS + secrets.token_urlsafe(32)
    token = Token.objects.create(
        user=user,
        name=name,
        begins=text[:_SHOWN],
        digest=digest(text),
        role=role.value,
        clusters=clusters,
        made_at=now,
        expires_at=expires_at,
    )
    return token, text


def revoke(user: User, number: int) -> Token | None:
    """End a token of this user's; None where that is none. Ending it twice changes nothing."""
    Token.objects.filter(user=user, pk=number, revoked_at=None).update(revoked_at=timezone.now())
    return Token.objects.filter(user=user, pk=number).first()


def digest(text: str) -> str:
    """What is kept of a token, in hex; "" for a text that cannot be one."""
    return hashlib.sha256(text.encode("ascii")).hexdigest() if _FORM.fullmatch(text) else ""


def read(digests: Collection[str], *, anonymous_reads: bool) -> Mapping[str, Rights]:
    """The rights of those tokens that stand, by their digests, four queries for all of them.

    Whatever ended, is revoked or unknown, or whose user is gone or inactive, is left out. Reading notes the
    use, to the minute.
    """
    now = timezone.now()
    standing = Token.objects.filter(
        digest__in=set(digests) - {""}, revoked_at=None, expires_at__gt=now, user__is_active=True
    )
    rows = list(standing.select_related("user"))
    if not rows:
        return {}
    noted = now - _NOTED_EVERY
    late = [row.pk for row in rows if row.used_at is None or row.used_at < noted]
    if late:
        with suppress(OperationalError, InternalError):  # a full disk takes nobody's sight away
            Token.objects.filter(Q(used_at=None) | Q(used_at__lt=noted), pk__in=late).update(used_at=now)
    users = {row.user_id: row.user for row in rows}
    granted = rights.of_users(tuple(users.values()), anonymous_reads=anonymous_reads)
    return {
        row.digest: msgspec.structs.replace(granted[row.user_id], scope=(row.clusters, Role(row.role)))
        for row in rows
    }
