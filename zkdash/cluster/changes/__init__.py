"""What changed between two states, in the operator's words."""

from __future__ import annotations

from zkdash.cluster.changes.change import Change
from zkdash.cluster.changes.difference import diff

__all__ = ["Change", "diff"]
