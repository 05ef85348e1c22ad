"""Who answers for the past in this process: one that hands over to another, that other, or nobody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from django.http import HttpRequest, HttpResponse

from zkdash import program
from zkdash.web.frame import answers
from zkdash.web.past import asked, bar
from zkdash.web.past.asked import At
from zkdash.web.visitors import gate


class Handler(Protocol):
    """Answers requests that ask for a moment; `show` is the answer of whoever has its snapshot."""

    def answer(
        self, request: HttpRequest, cluster: str, at: At, show: Callable[[], HttpResponse]
    ) -> HttpResponse: ...


_handler: Handler | None = None


def configure(handler: Handler | None) -> None:
    """Name who answers."""
    global _handler  # noqa: PLW0603 - one a process, by design
    _handler = handler


def answer(
    request: HttpRequest,
    cluster: str,
    show: Callable[[], HttpResponse],
    *,
    no_past: str = "",
    compares: bool = False,
    below: tuple[str, ...] = (),
) -> HttpResponse:
    """What a page of a cluster answers that is asked for a moment of the past, once the gate let it in.

    `no_past` says why there is none of it, `compares` that it shows what differs since `?from=`.
    `below` are the paths that it is about. Raises as `gate.cluster`.
    """
    gate.cluster(request, cluster)
    ways = bar.elsewhere(request.path, request.GET)
    if no_past:
        return answers.problem(request, 400, "No past of its own", no_past, ways)
    try:
        at = asked.read(request, compares=compares, below=below)
    except asked.UnreadableError as error:
        return answers.problem(request, 400, "No such moment", str(error), ways)
    if _handler is None:
        serve = program.line("serve")
        return away(request, f"The past is told beside “{serve}”, which does not run here.")
    return _handler.answer(request, cluster, at, show)


def away(request: HttpRequest, sentence: str) -> HttpResponse:
    """503, in words."""
    return answers.away(request, sentence, "The past is away")
