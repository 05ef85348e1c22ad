"""JSON and CSV of the very query that a page shows."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from django.http import HttpResponse

from zkdash.web.frame import times
from zkdash.web.frame.page import View

# A spreadsheet takes text that begins like this for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def as_json(view: View, head: dict[str, Any]) -> HttpResponse:
    """One shape for every list: what it is of, up to when it is true, and its rows."""
    document = {**head, "total": view.total, "rows": list(view.records()), **view.extra()}
    if view.gone:
        document["error"] = view.gone
    return json_response(document, status=404 if view.gone else 200)


def json_response(document: dict[str, Any], status: int) -> HttpResponse:
    # ASCII only, so that a lone surrogate in somebody's name is still valid JSON.
    return HttpResponse(
        json.dumps(document, allow_nan=False) + "\n", content_type="application/json", status=status
    )


def as_csv(view: View, filename: str) -> HttpResponse:
    """The rows with a header line; absent and unknown values are empty."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(view.fields)
    for record in view.records():
        writer.writerow([field(record.get(name)) for name in view.fields])
    response = HttpResponse(
        text.getvalue().encode("utf-8", "backslashreplace"),
        content_type="text/csv; charset=utf-8",
        status=404 if view.gone else 200,
    )
    response["Content-Disposition"] = f'attachment; filename="{filename}.csv"'
    return response


def instant(epoch_s: float | None) -> str | None:
    return None if epoch_s is None else times.utc_text(int(epoch_s * 1000))


def field(value: object) -> str | int | float:
    """A value of a CSV: numbers as they are, a quote before text that a spreadsheet would run."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return value
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return "'" + text if text.lstrip(" ").startswith(_FORMULA) else text
