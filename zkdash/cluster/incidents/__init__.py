"""Incidents: changes folded into causes with effects. One death of a broker is one story, not 250 rows."""

from __future__ import annotations

from zkdash.cluster.incidents.folding import expire, fold, in_order
from zkdash.cluster.incidents.incident import Incident, Incidents, Kind

__all__ = ["Incident", "Incidents", "Kind", "expire", "fold", "in_order"]
