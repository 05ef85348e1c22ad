"""The checks whose findings lead the Overview, from what a cluster's state keeps.

A check becomes a finding when it held over two revisions at least 2 s apart, and for its own time: every
read of ZooKeeper is racy, and Kafka passes through such states by design.
"""

from __future__ import annotations

from zkdash.cluster.checks.catalogue import BY_ID, CHECKS, TITLES
from zkdash.cluster.checks.check import About, Check, CheckContext, Silence
from zkdash.cluster.checks.observations import Observations, begun, due, follow, observe, put_off
from zkdash.cluster.checks.thresholds import Thresholds
from zkdash.cluster.model.findings import Finding

__all__ = [
    "BY_ID",
    "CHECKS",
    "TITLES",
    "About",
    "Check",
    "CheckContext",
    "Finding",
    "Observations",
    "Silence",
    "Thresholds",
    "begun",
    "due",
    "follow",
    "observe",
    "put_off",
]
