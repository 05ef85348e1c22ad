"""Which names a topic may have. Source: kafka.common.Topic, org.apache.kafka.common.internals.Topic."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

INTERNAL: Final = frozenset({"__consumer_offsets", "__transaction_state"})
_LEGAL = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def fault(name: str) -> str:
    """Why a topic may not be called so, as a sentence; empty where it may."""
    if name in {".", ".."}:
        return f'A topic cannot be called "{name}".'
    if not _LEGAL.fullmatch(name):
        return "A topic's name is 1 to 249 of the characters a-z, A-Z, 0-9, '.', '_' and '-'."
    return ""


def colliding(name: str, others: Iterable[str]) -> str | None:
    """A topic whose metrics would be mixed up with this one's, because '.' and '_' are the same there."""
    folded = name.replace(".", "_")
    return next((one for one in others if one != name and one.replace(".", "_") == folded), None)
