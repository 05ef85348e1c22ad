"""Security headers of every answer, static files included."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

Sync = Callable[[HttpRequest], HttpResponse]
Async = Callable[[HttpRequest], Awaitable[HttpResponse]]


@sync_and_async_middleware
def security_headers(get_response: Sync | Async) -> Sync | Async:
    """Add the headers that keep other people's names and pages from acting as ours."""
    if iscoroutinefunction(get_response):
        answer_later = cast("Async", get_response)

        async def middleware(request: HttpRequest) -> HttpResponse:
            return _secured(request, await answer_later(request))

        return middleware
    answer = cast("Sync", get_response)

    def sync_middleware(request: HttpRequest) -> HttpResponse:
        return _secured(request, answer(request))

    return sync_middleware


def _secured(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    if _is_public(request):
        response.headers.setdefault("Cross-Origin-Resource-Policy", "cross-origin")
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def _is_public(request: HttpRequest) -> bool:
    """What pages of other origins may load: our own files, since an embed has no origin, and badges.

    Told by the path, as a 304 must repeat it.
    """
    path = request.path_info
    return request.path.startswith(settings.STATIC_URL) or (
        path.startswith("/embed/") and path.endswith(".svg")
    )
