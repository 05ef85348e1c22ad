"""What changed between two states, in the operator's words."""

from __future__ import annotations

from zkdash.cluster.changes.change import Change
from zkdash.cluster.changes.difference import diff, of_batch
from zkdash.cluster.changes.leaders import count_changed as count_changed_leaders

__all__ = ["Change", "count_changed_leaders", "diff", "of_batch"]
