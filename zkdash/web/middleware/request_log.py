"""Each request has an id, in its answer and in each line of the log about it.

What may change something and what is refused gets a line of its own. It names the route, not the address:
an address may hold a one-time link's token.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast

from asgiref.sync import iscoroutinefunction
from django.core.exceptions import PermissionDenied
from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin

from zkdash import databases, logs
from zkdash.access.rights import Rights
from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.web.accounts import signin

log = logging.getLogger(__name__)

_HEADER: Final = "X-Request-ID"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_REFUSALS: Final = frozenset({401, 403, 429})
_ACTIONS: Final = "actions/"

Sync = Callable[[HttpRequest], HttpResponse]
Async = Callable[[HttpRequest], Awaitable[HttpResponse]]


@sync_and_async_middleware
def numbered(get_response: Sync | Async) -> Sync | Async:
    """Give each request an id of its own; one that a client brings is not taken, it could be anybody's."""
    if iscoroutinefunction(get_response):
        answer_later = cast("Async", get_response)

        async def middleware(request: HttpRequest) -> HttpResponse:
            exchange = _Exchange(request)
            with logs.about(exchange.told, exchange.secrets):
                return exchange.ended(await answer_later(request))

        return middleware
    answer = cast("Sync", get_response)

    def sync_middleware(request: HttpRequest) -> HttpResponse:
        exchange = _Exchange(request)
        with logs.about(exchange.told, exchange.secrets):
            return exchange.ended(answer(request))

    return sync_middleware


class _Exchange:
    """One request and its answer, as the log tells of them."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._id = uuid.uuid4().hex
        self._began = time.monotonic()

    def told(self) -> Mapping[str, object]:
        """What is known by now: who asks is, once the gate has looked."""
        arguments, rights = self._arguments, _held(self._request)
        return {
            "request": self._id,
            "user": rights.name if rights else "",
            "cluster": arguments.get("cluster"),
            "action": arguments.get("number") if _ACTIONS in _route(self._request) else None,
        }

    def secrets(self) -> tuple[str, ...]:
        """What of its address must not be in a log."""
        token = self._arguments.get("token")
        return (token,) if token and isinstance(token, str) else ()

    def ended(self, response: HttpResponse) -> HttpResponse:
        response.headers[_HEADER] = self._id
        if self._matters(response.status_code):
            milliseconds = round((time.monotonic() - self._began) * 1000, 1)
            fields = {"status": response.status_code, "ms": milliseconds}
            log.info("%s %s", self._request.method, _route(self._request), extra={logs.FIELDS: fields})
        return response

    def _matters(self, status: int) -> bool:
        """What may change something, what was refused, and actions that are not there for who asks."""
        is_change = self._request.method not in _SAFE
        return is_change or status in _REFUSALS or (status == 404 and _ACTIONS in _route(self._request))

    @property
    def _arguments(self) -> Mapping[str, Any]:
        match = self._request.resolver_match
        return match.kwargs if match else {}


class Refusals(MiddlewareMixin):
    """Who tries to change what that person's role does not allow is told to the audit."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:
        rights = _held(request)
        if rights is None or request.method in _SAFE or not isinstance(exception, PermissionDenied):
            return
        match = request.resolver_match
        try:
            audit.append(
                "not-allowed",
                Actor(rights.name, rights.user_id),
                cluster=str(match.kwargs.get("cluster", "")) if match else "",
                detail={"asked": f"{request.method} {_route(request)}", "from": signin.address(request)},
            )
        except Error as error:
            if not databases.is_away(error):
                raise
            why = databases.line(error)
            log.warning("A refusal could not be told to the audit; it was refused all the same: %s", why)


def _route(request: HttpRequest) -> str:
    match = request.resolver_match
    return f"/{match.route}" if match else "no such address"


def _held(request: HttpRequest) -> Rights | None:
    """The rights of who is signed in, where the gate has asked for them by now."""
    rights: Rights | None = getattr(request, "zkdash_rights", None)
    return rights if rights is not None and rights.is_signed_in else None
