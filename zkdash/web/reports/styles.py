"""The styles of our pages as one text, for what is read where nobody serves them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, cast

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage, staticfiles_storage

# Those of what a report shows.
_FILES: Final = (
    "style/tokens.css",
    "style/base.css",
    "style/status.css",
    "style/tables.css",
    "style/drawing.css",
    "style/pages.css",
    "incidents.css",
    "time-bar.css",
)


@cache
def text() -> str:
    """All of them, in their order."""
    return "\n".join(_path(name).read_text() for name in _FILES)


def _path(name: str) -> Path:
    """Where a file lies: in a checkout, or as it was collected, by the name of its content."""
    if path := finders.find(name):
        return Path(path)
    collected = cast("ManifestStaticFilesStorage", staticfiles_storage)
    return Path(collected.path(collected.stored_name(name)))
