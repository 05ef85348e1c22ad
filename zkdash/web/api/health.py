"""What a supervisor asks: /healthz, whether the process answers, /readyz, whether its answers hold."""

from __future__ import annotations

import logging

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from zkdash import databases, live
from zkdash.access.rights import Rights
from zkdash.live import engine
from zkdash.web.frame import answers, exports
from zkdash.web.visitors import gate, sessions

log = logging.getLogger(__name__)


@never_cache
@require_safe
def alive(_request: HttpRequest) -> HttpResponse:
    """200 from a process that answers; it looks at nothing else, so that nothing else has it restarted."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """200 where every cluster is loaded and followed and the database answers; else 503 with what is not so.

    Clusters are named only to who may see them; for others they are counted.
    """
    trouble = _database()
    try:
        rights = gate.rights(request)
    except (Error, sessions.AwayError):
        rights = Rights()
    reasons = [*([trouble] if trouble else []), *_clusters(rights)]
    status = 503 if reasons else 200
    if answers.shape(request) == answers.JSON:
        return exports.json_response({"ready": not reasons, "reasons": reasons}, status)
    text = "\n".join(reasons or ["ready"]) + "\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8", status=status)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error as error:
        log.warning("The database does not answer: %s", databases.line(error))
        return "The database does not answer."
    why = engine.polled().database.trouble()
    return f"The database cannot be written: {why}." if why else ""


def _clusters(rights: Rights) -> list[str]:
    """A sentence for each cluster that cannot be relied on, the hidden ones in one."""
    if engine.configured() is None:
        return ["Nothing watches clusters in this process."]
    names = tuple(dict.fromkeys((*(config.name for config in settings.ZKDASH_CLUSTERS), *live.names())))
    troubled = {name: why for name in names if (why := _trouble(name))}
    visible = rights.visible(troubled)
    sentences = [f"“{name}” {troubled[name]}." for name in visible]
    hidden = len(troubled) - len(visible)
    if hidden:
        sentences.append(f"{hidden} of {len(names)} clusters cannot be relied on.")
    return sentences


def _trouble(name: str) -> str:
    snapshot = live.current(name)
    if snapshot is None:
        return "is not watched here"
    if not snapshot.state.loaded:
        return f"is not loaded ({snapshot.session.phase.value})"
    return f"is stale ({snapshot.session.phase.value})" if snapshot.stale else ""
