"""Who signed in, who failed to, and what administrators did to users and grants, into the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from zkdash.access.signals import administered, refused
from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.web.accounts import signin


@receiver(user_logged_in)
def _signed_in(request: HttpRequest, user: User, **_: object) -> None:
    audit.append("signed-in", Actor(user.get_username(), user.pk), detail=_origin(request))


@receiver(user_logged_out)
def _signed_out(request: HttpRequest, user: User | None, **_: object) -> None:
    if user is not None:
        audit.append("signed-out", Actor(user.get_username(), user.pk), detail=_origin(request))


@receiver(user_login_failed)
def _failed(credentials: Mapping[str, Any], request: HttpRequest | None = None, **_: object) -> None:
    """One that was not even tried, because there were too many before it, is not told again."""
    if request is not None and not getattr(request, "axes_locked_out", False):
        audit.append("sign-in-failed", Actor(str(credentials.get("username", ""))), detail=_origin(request))


@receiver(user_locked_out)
def _locked_out(request: HttpRequest, username: str, **_: object) -> None:
    """Told by the attempt that was one too many; those after it are not even counted."""
    if getattr(request, "axes_failures_since_start", None) is not None:
        audit.append("sign-in-locked", Actor(username), detail=_origin(request))


@receiver(refused)
def _refused(request: HttpRequest, name: str, sentence: str, **_: object) -> None:
    """Told to who asked as well, by the sign-in page."""
    request.zkdash_refused = sentence  # type: ignore[attr-defined]
    audit.append("sign-in-refused", Actor(name), detail={**_origin(request), "why": sentence})


@receiver(administered)
def _administered(
    request: HttpRequest, deed: str, kind: str, what: str, changes: object, **_: object
) -> None:
    assert isinstance(request.user, User)  # noqa: S101 - the admin lets nobody else in
    who = Actor(request.user.get_username(), request.user.pk)
    audit.append(f"{kind}-{deed}", who, detail={"what": what, "changes": changes})


def _origin(request: HttpRequest) -> dict[str, str]:
    return {"from": signin.address(request)}
