"""The first administrator: whether there is one, how one is made, and the one-time link that makes one.

There is no default user. A link's token is told once, on the terminal; the database keeps its SHA-256.
"""

from __future__ import annotations

import enum
import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from zkdash.access.models import Grant, Invitation
from zkdash.access.rights import EVERYWHERE
from zkdash.access.roles import Role

VALID_FOR = timedelta(hours=1)
_REMEMBERED_FOR = timedelta(days=7)


class Standing(enum.Enum):
    """What can be said of a link."""

    VALID = "valid"
    USED = "used"
    EXPIRED = "expired"
    NONE = "none"


class NotValidError(Exception):
    """The link has just been used, or ended."""


def exist() -> bool:
    """Whether anybody can grant roles: an active superuser, or an active admin of every cluster."""
    granted = Grant.objects.filter(
        Q(user__is_active=True) | Q(group__user__is_active=True), role=Role.ADMIN.value, clusters=EVERYWHERE
    )
    return User.objects.filter(is_superuser=True, is_active=True).exists() or granted.exists()


def appoint(name: str, password: str | None) -> User:
    """Make a user of that name an administrator, with that password (None: with none, so by a link only).

    Links that were given out and not used end with it.
    """
    with transaction.atomic():
        user, _ = User.objects.select_for_update().get_or_create(username=name)
        user.is_active = user.is_staff = user.is_superuser = True
        if password is None:
            user.set_unusable_password()
        else:
            user.set_password(password)
        user.save()
        Invitation.objects.filter(used_at=None).delete()
    return user


def invite(name: str = "") -> str:
    """The token of a new link, valid for an hour; earlier links that nobody used end with it."""
    token, now = secrets.token_urlsafe(32), timezone.now()
    with transaction.atomic():
        Invitation.objects.filter(Q(used_at=None) | Q(used_at__lt=now - _REMEMBERED_FOR)).delete()
        Invitation.objects.create(digest=_digest(token), name=name, expires_at=now + VALID_FOR)
    return token


def standing(token: str) -> tuple[Standing, str]:
    """What a token is worth now, and the name that it is for ("" where one is chosen). Changes nothing."""
    invitation = Invitation.objects.filter(digest=_digest(token)).first()
    if invitation is None:
        return Standing.NONE, ""
    if invitation.used_at is not None:
        return Standing.USED, invitation.name
    return (Standing.VALID if timezone.now() < invitation.expires_at else Standing.EXPIRED), invitation.name


def redeem(token: str, name: str, password: str | None) -> User:
    """Use a link up and make the administrator, both or neither. Raises NotValidError."""
    now = timezone.now()
    with transaction.atomic():
        valid = Invitation.objects.filter(digest=_digest(token), used_at=None, expires_at__gt=now)
        if not valid.update(used_at=now):
            raise NotValidError
        return appoint(name, password)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
