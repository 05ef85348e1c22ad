"""How bad a status is, with the glyph and the word that always go with the colour."""

from __future__ import annotations

import enum


class Severity(enum.Enum):
    """Worst first in `rank`; the value is the word that URLs, JSON and CSS classes use."""

    CRITICAL = "critical"
    WARNING = "warning"
    UNKNOWN = "unknown"
    INFO = "info"
    OK = "ok"

    # There is one object each; Enum's own hash is a function of Python, and tables count thousands of rows.
    __hash__ = object.__hash__

    @property
    def glyph(self) -> str:
        return _GLYPHS[self]

    @property
    def rank(self) -> int:
        return _RANKS[self]


_GLYPHS = {
    Severity.OK: "✓",
    Severity.WARNING: "▲",
    Severity.CRITICAL: "✕",
    Severity.INFO: "●",
    Severity.UNKNOWN: "?",
}
_RANKS = {severity: rank for rank, severity in enumerate(Severity)}
