"""The serving process’s handler: forwards a request to the process that tells the past."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

from zkdash.rewind.rewinder import AwayError, Rewinder
from zkdash.rewind.wire import Question
from zkdash.web.past import handlers
from zkdash.web.past.asked import At
from zkdash.web.visitors import gate

# What decides how a page is answered, and as whom. Who asks is judged anew there.
_HEADERS: Final = ("ACCEPT", "AUTHORIZATION", "COOKIE", "HOST", "IF_NONE_MATCH", "USER_AGENT")


class ForwardingHandler:
    """See the module. `reach` sees that a moment of a cluster is recorded, where that is to be had."""

    def __init__(self, rewinder: Rewinder, reach: Callable[[str, At], None]) -> None:
        self._rewinder, self._reach = rewinder, reach

    def answer(
        self, request: HttpRequest, cluster: str, at: At, _show: Callable[[], HttpResponse]
    ) -> HttpResponse:
        self._reach(cluster, at)
        meta = request.META
        question = Question(
            method=request.method or "GET",
            target=request.path_info,
            query=meta.get("QUERY_STRING", ""),
            scheme=request.scheme or "http",
            remote=meta.get("REMOTE_ADDR", ""),
            clusters=gate.reachable(request),
            headers={name: meta[f"HTTP_{name}"] for name in _HEADERS if f"HTTP_{name}" in meta},
        )
        try:
            answer = self._rewinder.ask(question)
        except AwayError as error:
            return handlers.away(request, f"The past cannot be told now: {error}.")
        response = HttpResponse(answer.body, status=answer.status)
        del response["Content-Type"]
        for name, value in answer.headers:
            if name.lower() == "set-cookie":
                response.cookies.load(value)
            else:
                response[name] = value
        return response
