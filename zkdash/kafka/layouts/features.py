"""/feature: which levels of features the cluster has finalized (KIP-584).

Source: kafka.zk.FeatureZNode, version 1 (2.7 to 3.2) and 2 (from 3.3), which has no lowest level.
"""

from __future__ import annotations

from typing import Any

from zkdash.kafka.documents import document
from zkdash.kafka.documents.document import Fields, Parsed, few_of, quote
from zkdash.kafka.values import Features, Unparsable

DISABLED, ENABLED = 0, 1


def parse_features(data: bytes | None) -> Parsed[Features]:
    """The finalized levels. An unknown status and a feature without levels are noted."""
    found = document.decode(data, "the finalized features")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    version = fields.version(1, 2, required=True)
    status = fields.integer("status", low=-document.INT_MAX)
    levels = fields.table("features")
    if version is None or status is None or levels is None:
        return fields.unparsable()
    if status not in (DISABLED, ENABLED):
        fields.note(f"status {status} is not known ({DISABLED} is disabled, {ENABLED} is enabled)")
    read = {name: _levels(value) for name, value in levels.items()}
    wrong = [name for name, range_ in read.items() if range_ is None]
    fields.reasons += few_of(wrong, lambda name: f"the levels of feature {quote(name)} are no numbers")
    known = {name: range_ for name, range_ in read.items() if range_ is not None}
    return Features(version, status, known), tuple(fields.reasons)


def _levels(value: Any) -> tuple[int | None, int] | None:
    if not isinstance(value, dict):
        return None
    low, high = value.get("min_version_level"), value.get("max_version_level")
    return (low, high) if type(high) is int and (low is None or type(low) is int) else None
