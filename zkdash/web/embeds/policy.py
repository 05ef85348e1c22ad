"""What a browser may do with an embed, as response headers: who may frame it, and that it has no origin."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpResponse

# The sandbox takes the frame's origin away, wherever it stands: it has no cookies and no storage, and cannot
# reach into our pages. Links open in tabs of their own, which are as free as any.
_SANDBOX = "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox"
_SOURCES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'self'"
)
OURSELVES = "'self'"


def framed(response: HttpResponse, parents: Iterable[str]) -> HttpResponse:
    """Let these origins and nobody else frame a page, whose address is secret and told to nobody."""
    ancestors = " ".join(parents) or "'none'"
    response["Content-Security-Policy"] = f"{_SOURCES}; frame-ancestors {ancestors}; {_SANDBOX}"
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex"
    return response


def picture(response: HttpResponse) -> HttpResponse:
    """Let a badge be shown by any page, and be nothing but a picture, for as long as revoking may take."""
    response["Content-Security-Policy"] = "default-src 'none'; frame-ancestors 'none'; sandbox"
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "max-age=3, must-revalidate"
    return response
