"""A report of an incident: what differs between two moments, what happened, and what was wrong at the second.

One HTML file without a script, whose links lead back to zkdash.
"""

from __future__ import annotations

import time
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from zkdash.access.roles import Role
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.differences import differences
from zkdash.web.frame import answers, cells, links, times
from zkdash.web.overview import overview
from zkdash.web.past import asked, bar, handlers
from zkdash.web.reports import styles
from zkdash.web.visitors import gate

_MOST_NOTE: Final = 4_000
# So many differences are listed, which is the most that their page lists.
_MOST_ROWS: Final = 1_000
_NO_MOMENTS: Final = (
    "A report tells what happened from one moment to another: from=… and at=…, where left out the newest."
)


@require_safe
def report(request: HttpRequest, cluster: str) -> HttpResponse:
    """The file; `note` is what somebody writes above it."""
    if asked.SINCE not in request.GET:
        gate.cluster(request, cluster)
        ways = (("Choose them", links.cluster(cluster, "differences/")),)
        return answers.problem(request, 400, "A report of which time?", _NO_MOMENTS, ways)
    return handlers.answer(request, cluster, lambda: _report(request, cluster), compares=True)


def _report(request: HttpRequest, cluster: str) -> HttpResponse:
    snapshot = gate.snapshot(request, cluster)
    past = snapshot.past
    assert past is not None, "it is told of the past alone"  # noqa: S101
    assert past.earlier is not None, "two moments are compared"  # noqa: S101
    query = urlencode({"from": request.GET[asked.SINCE], "size": _MOST_ROWS})
    then = overview.look(snapshot, _key(snapshot, overview.NAME, ""))
    difference = differences.look(snapshot, _key(snapshot, differences.NAME, query))
    began, ended = (times.utc_text(each.time_ms) or "" for each in (past.earlier.instant, past.instant))
    markup = render_to_string(
        "reports/report.html",
        {
            **difference.context,
            "cluster": cluster,
            "address": snapshot.address,
            "parts": (*then.parts, *difference.parts),
            "began": f"0x{past.earlier.instant.zxid:x}",
            "ended": f"0x{past.instant.zxid:x}",
            "past": bar.of(cluster, past, request.path, request.GET),
            "note": request.GET.get("note", "")[:_MOST_NOTE],
            "more": cells.grouped(difference.total - _MOST_ROWS) if difference.total > _MOST_ROWS else "",
            "styles": SafeString(styles.text()),  # our own files
            "base": request.build_absolute_uri(links.cluster(cluster, "differences/")),
            "live": links.cluster(cluster, "differences/", urlencode({"from": began, "at": ended})),
            "made": int(time.time() * 1000),
        },
    )
    response = HttpResponse(markup.encode("utf-8", "backslashreplace"))
    name = f"{cluster}-{ended[:19].replace(':', '')}Z.html"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-store"
    return response


def _key(snapshot: Snapshot, page: str, query: str) -> PageKey:
    """The page as a viewer sees it: in a report nobody acts."""
    return PageKey(snapshot.cluster, page, (), query, Role.VIEWER.value)
