"""How long a body each address takes: forms what is pasted into them, buttons little, others none."""

from __future__ import annotations

import re
from typing import Final

from django.conf import settings

# What may hold a pasted plan, names of thousands of topics, or all causes of a check.
_FORMS: Final = re.compile(r"/c/[^/]+/(?:actions/new/[^/]+|checks/[^/]+/acknowledge)/")
_SMALL: Final = re.compile(
    r"/(?:sign-in|sign-out|password|welcome/[^/]+|tokens|tokens/[^/]+/revoke)/"
    r"|/admin/.*"
    r"|/c/[^/]+/(?:actions/[^/]+/[^/]+|checks/[^/]+/withdraw|alerts/test|audit/verify|pipeline/run|embeds)/"
    r"|/c/[^/]+/embeds/[^/]+/revoke/"
    r"|/c/[^/]+/bookmarks/(?:keep|[^/]+/remove)/",
    re.DOTALL,
)


def most(method: str, path: str) -> int:
    """The most bytes that are taken by a method at an address, whose percent-encoding is undone."""
    if method != "POST":
        return 0
    if _FORMS.fullmatch(path):
        return int(settings.ZKDASH_LIMITS.form_bytes)
    return int(settings.ZKDASH_LIMITS.small_form_bytes) if _SMALL.fullmatch(path) else 0
