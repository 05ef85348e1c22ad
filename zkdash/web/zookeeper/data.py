"""The whole data of a znode as a file, for what is too long to be shown; secrets are replaced in it too."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from zkdash.live.tree.znodes import why_impossible
from zkdash.web.past import asked, handlers
from zkdash.web.visitors import gate
from zkdash.web.zookeeper import facts
from zkdash.znode import Unreadable, Znode


@require_safe
def whole(request: HttpRequest, cluster: str, path: str) -> HttpResponse:
    """The bytes; 404 with a sentence where there are none to be had."""

    def as_it_is() -> HttpResponse:
        return _whole(request, cluster, path)

    return handlers.answer(request, cluster, as_it_is) if asked.is_asked(request) else as_it_is()


def _whole(request: HttpRequest, cluster: str, path: str) -> HttpResponse:
    snapshot = gate.snapshot(request, cluster)
    if why := why_impossible(path):
        raise Http404(f"No znode can have this path: {why}.")
    znode = facts.find(snapshot, path, asks=True)
    if not isinstance(znode.read, Znode):
        refused = znode.read.reason if isinstance(znode.read, Unreadable) else ""
        raise Http404(refused or znode.gone or znode.seen.trouble)
    response = HttpResponse(znode.read.data or b"", content_type="application/octet-stream")
    response["Content-Disposition"] = 'attachment; filename="znode.bin"'
    response["Cache-Control"] = "private, no-store"
    return response
