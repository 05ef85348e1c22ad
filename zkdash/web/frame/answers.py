"""Which format was asked for, and the page that says in a sentence why there is nothing else to show."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from zkdash import databases
from zkdash.web.frame import exports

log = logging.getLogger(__name__)

HTML, JSON, CSV = "html", "json", "csv"

AWAY = "Database away"
UNAVAILABLE = 503
_AGAIN_S = 5
_LINE_EVERY_S = 60.0
_told: dict[str, float] = {}  # when a line was written last, by what it tells of


def shape(request: HttpRequest) -> str:
    """`?format=` wins; else JSON for who prefers it to HTML."""
    wanted = request.GET.get("format", "")
    if wanted in {JSON, CSV, HTML}:
        return wanted
    preferred = request.get_preferred_type(["text/html", "application/json", "text/csv"])
    return {"application/json": JSON, "text/csv": CSV}.get(preferred or "", HTML)


def problem(
    request: HttpRequest, status: int, title: str, sentence: str, ways: Sequence[tuple[str, str]] = ()
) -> HttpResponse:
    """A page, or JSON for who asked for data. `ways` lead on from it: labels and addresses."""
    if shape(request) != HTML:
        return exports.json_response({"error": sentence}, status)
    return render(
        request, "frame/problem.html", {"title": title, "sentence": sentence, "ways": ways}, status=status
    )


def unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    """What is answered where the database fails: why, in words; what it said itself is for the log."""
    why = databases.why(error)
    if time.monotonic() - _told.get(why, -_LINE_EVERY_S) >= _LINE_EVERY_S:
        _told[why] = time.monotonic()
        log.warning("Requests are answered by 503, as the database fails: %s", databases.line(error))
    return away(
        request,
        f"This needs zkdash’s own database, and {why}. Pages of clusters go on; try this again later.",
    )


def away(request: HttpRequest, sentence: str, title: str = AWAY) -> HttpResponse:
    """503, and when to come back."""
    return later(problem(request, UNAVAILABLE, title, sentence))


def later(response: HttpResponse) -> HttpResponse:
    """Make an answer one that says to come back: 503, also to a proxy that would ask another process."""
    response.status_code = UNAVAILABLE
    response["Retry-After"] = str(_AGAIN_S)
    # Django would write a line for each, beside the one that says why.
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001
    return response


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """What Django answers to a form without the token that its page holds, or from a page of another site."""
    sentence = f"This was not taken, since it does not seem to come from a page of zkdash: {reason}"
    return problem(request, 403, "Not taken", f"{sentence} Open the page again, and send it from there.")
