"""Which format was asked for, and the page that says in a sentence why there is nothing else to show."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from zkdash.web.frame import exports

HTML, JSON, CSV = "html", "json", "csv"


def shape(request: HttpRequest) -> str:
    """`?format=` wins; else JSON for who prefers it to HTML."""
    wanted = request.GET.get("format", "")
    if wanted in {JSON, CSV, HTML}:
        return wanted
    preferred = request.get_preferred_type(["text/html", "application/json", "text/csv"])
    return {"application/json": JSON, "text/csv": CSV}.get(preferred or "", HTML)


def problem(request: HttpRequest, status: int, title: str, sentence: str) -> HttpResponse:
    """A page, or JSON for who asked for data."""
    if shape(request) != HTML:
        return exports.json_response({"error": sentence}, status)
    return render(request, "frame/problem.html", {"title": title, "sentence": sentence}, status=status)


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """What Django answers to a form without the token that its page holds, or from a page of another site."""
    sentence = f"This was not taken, since it does not seem to come from a page of zkdash: {reason}"
    return problem(request, 403, "Not taken", f"{sentence} Open the page again, and send it from there.")
