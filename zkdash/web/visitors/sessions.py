"""Who asks: a session's user, also where the database tells nothing of sessions and users for a while.

Then whoever was known lately is known still, with the rights that were read last, and goes on looking. What
writes fails all the same, and says why.
"""

from __future__ import annotations

from typing import Any, cast

from django import db
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.middleware import get_user as user_of_session
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from zkdash import databases
from zkdash.access import holders
from zkdash.access import rights as access
from zkdash.access.remembered import MEMORY
from zkdash.access.rights import Rights
from zkdash.web.frame import answers


class Sessions(SessionMiddleware):
    """Says in words that a session cannot be kept."""

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        try:
            return super().process_response(request, response)
        except db.Error as error:
            if not databases.is_away(error):
                raise
            return answers.unavailable(request, error)


class Visitors(AuthenticationMiddleware):
    """Django's own, with `request.user` as told above."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        cast("Any", request).user = SimpleLazyObject(lambda: _user(request))


def rights(request: HttpRequest) -> Rights:
    """The rights of a session's user. Raises AwayError where nothing is known of who asks."""
    user, anonymous_reads = request.user, settings.ZKDASH_ANONYMOUS_READ
    key = request.session.session_key or ""
    if not user.is_authenticated and not hasattr(request, "zkdash_recalled"):
        return access.anonymous(anonymous_reads=anonymous_reads)
    if not hasattr(request, "zkdash_recalled"):
        try:
            rights = access.of(user, anonymous_reads=anonymous_reads)
        except db.Error as error:
            if not databases.is_away(error):
                raise
            MEMORY.failed(error)
        else:
            MEMORY.answered()
            if key:
                holders.remember(key, rights)
            return rights
    [recalled] = holders.recalled([key], anonymous_reads=anonymous_reads).values()
    if recalled is None:
        raise AwayError
    return recalled


class AwayError(Exception):
    """The database does not tell who asks, and did not lately."""

    sentence = (
        "Who you are cannot be read: zkdash’s database does not answer, and nobody looked by this session "
        "lately. Whoever did goes on looking."
    )

    def __init__(self) -> None:
        super().__init__(self.sentence)


def _user(request: HttpRequest) -> AbstractBaseUser | AnonymousUser:
    key = request.session.session_key or ""
    remembered = MEMORY.recall(key)
    if remembered is None or MEMORY.may_ask():
        try:
            user: AbstractBaseUser | AnonymousUser = user_of_session(request)
        except db.Error as error:
            if not databases.is_away(error):
                raise
            MEMORY.failed(error)
        else:
            if key:
                MEMORY.answered()
            if not user.is_authenticated:
                MEMORY.forget(key)
            return user
    cast("Any", request).zkdash_recalled = True
    if remembered is None:
        return AnonymousUser()
    return User(pk=remembered.user_id, username=remembered.name)
