"""What a page's socket begins from: the process, the revision, and as whom the page was made."""

from __future__ import annotations

import hashlib

from zkdash import live
from zkdash.live.parts import PageKey


def of(key: PageKey, revision: int) -> str:
    """The `from` of a page's socket: "process.revision.view"."""
    return f"{live.STARTED}.{revision}.{_view(key)}"


def seen(key: PageKey, token: str) -> str:
    """The "process.revision" that a page shows; empty where it was made for other rights.

    Rights may change while a page is open: then its socket comes back and is told everything.
    """
    revision, _, view = token.rpartition(".")
    return revision if view == _view(key) else ""


def _view(key: PageKey) -> str:
    return hashlib.blake2b(repr((key.rights, key.args)).encode(), digest_size=4).hexdigest()
