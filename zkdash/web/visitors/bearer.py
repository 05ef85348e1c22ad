"""Requests that show a token: "Authorization: Bearer zkd_…". They have no session, and need no CSRF token.

A browser never sends this header by itself, so no other site can have it sent. What the token is worth
is the gate's to say; here only the cookies are taken away, so that nothing of a session counts beside it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, cast

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

_SCHEME = "bearer "

Sync = Callable[[HttpRequest], HttpResponse]
Async = Callable[[HttpRequest], Awaitable[HttpResponse]]


def shown(request: HttpRequest) -> str | None:
    """The token that a request shows, whatever it is; None where it shows none."""
    return parse(request.META.get("HTTP_AUTHORIZATION", ""))


def among(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """As `shown`, of ASGI's headers."""
    return next((parse(value.decode("latin-1")) for name, value in headers if name == b"authorization"), None)


def parse(header: str) -> str | None:
    """The token of an Authorization header; None where its scheme is another."""
    return header[len(_SCHEME) :].strip() if header[: len(_SCHEME)].lower() == _SCHEME else None


@sync_and_async_middleware
def without_session(get_response: Sync | Async) -> Sync | Async:
    """Let a request with a token be that and nothing else."""
    if iscoroutinefunction(get_response):
        answer_later = cast("Async", get_response)

        async def middleware(request: HttpRequest) -> HttpResponse:
            _strip(request)
            return await answer_later(request)

        return middleware
    answer = cast("Sync", get_response)

    def sync_middleware(request: HttpRequest) -> HttpResponse:
        _strip(request)
        return answer(request)

    return sync_middleware


def _strip(request: HttpRequest) -> None:
    if shown(request) is not None:
        request.COOKIES.pop(settings.SESSION_COOKIE_NAME, None)
        cast("Any", request)._dont_enforce_csrf_checks = True  # noqa: SLF001 - Django's switch for this
