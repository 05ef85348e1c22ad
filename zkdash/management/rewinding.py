"""The process that tells the past: requests come by a socket, one by one, and Django answers them as ever.

Its memory is limited, so that it ends before the machine's does.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import socket
from typing import Any, Final, cast

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

from zkdash.history.store import directories
from zkdash.live.past.reels import Reels
from zkdash.rewind import wire
from zkdash.rewind.wire import Answer, Question
from zkdash.web import pages
from zkdash.web.past import handlers, link_rewriting
from zkdash.web.past.replaying import ExhaustedError, ReplayingHandler
from zkdash.web.visitors import gate

# What the serving process does for each request by itself.
_DONE_THERE: Final = frozenset(
    {
        "zkdash.web.middleware.request_log.numbered",
        "zkdash.web.middleware.headers.security_headers",
        "django.middleware.security.SecurityMiddleware",
        "servestatic.middleware.ServeStaticMiddleware",
    }
)
# How far it stands back for others, as nice(1) has it.
_NICE: Final = 5
_EXHAUSTED: Final = "it needs more memory than it may have (past_bytes of [limits]): ask for less"


def tell(connection: socket.socket) -> None:
    """Answer until the socket ends, or there is not enough memory."""
    _stand_back()
    # The limit counts what is reserved: Arrow's own allocator would reserve 1 GB at once.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # What every answer needs, before there is a limit that they could fail for.
    import duckdb  # noqa: F401, PLC0415 - once numpy is forgone
    import pyarrow  # noqa: F401, PLC0415

    limits = settings.ZKDASH_LIMITS
    resource.setrlimit(resource.RLIMIT_DATA, (limits.past_bytes, limits.past_bytes))
    settings.ALLOWED_HOSTS = ["*"]  # the serving process has looked
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if name not in _DONE_THERE]
    link_rewriting.declare(page.route for page in pages.PAGES if not page.no_past)
    reels = Reels(
        lambda cluster: directories.directory(settings.ZKDASH_HISTORY, cluster),
        settings.ZKDASH_CHECKS.of,
        memory_mb=limits.past_bytes // 2**22,
        # whoever asked hears of nothing later
        limit_s=limits.past_s,
    )
    handlers.configure(ReplayingHandler(reels))
    django = WSGIHandler()
    failed = ""
    while not failed:
        try:
            question = wire.receive(connection, wire.QUESTIONS)
        except OSError:
            return
        try:
            answer = _answer(django, question)
        except (ExhaustedError, MemoryError):
            answer = Answer(failed=_EXHAUSTED)
        wire.send(connection, answer)
        failed = answer.failed


def _stand_back() -> None:
    """Have the serving process get the processor first. Threads inherit it, so that it comes before any."""
    os.nice(_NICE)
    with contextlib.suppress(OSError):  # some sandbox may forbid it
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _answer(django: WSGIHandler, question: Question) -> Answer:
    response = cast("Any", django)(_environ(question), lambda *_: None)
    try:
        cookies = [("Set-Cookie", cookie.OutputString()) for cookie in response.cookies.values()]
        return Answer(response.status_code, (*response.headers.items(), *cookies), response.content)
    finally:
        response.close()


def _environ(question: Question) -> dict[str, Any]:
    """The request as WSGI has it (PEP 3333: text that holds bytes)."""
    return {
        "REQUEST_METHOD": question.method,
        "SCRIPT_NAME": "",
        gate.REACHABLE: question.clusters,
        "PATH_INFO": question.target.encode("utf-8", "surrogatepass").decode("latin-1"),
        "QUERY_STRING": question.query,
        "REMOTE_ADDR": question.remote,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "wsgi.url_scheme": question.scheme,
        "wsgi.input": io.BytesIO(),
        **{f"HTTP_{name}": value for name, value in question.headers.items()},
    }
