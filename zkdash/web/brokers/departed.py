"""The row of a broker that is gone, with what it said of itself last."""

from __future__ import annotations

import msgspec

from zkdash.cluster.tables.brokers.rows import BrokerRow
from zkdash.live.snapshot import Snapshot


def recalled(snapshot: Snapshot, row: BrokerRow) -> BrokerRow:
    """The row, with what its broker said of itself last where it went while this process watched."""
    departure = None if row.broker is not None else snapshot.departed.get(row.id)
    if departure is None:
        return row
    return msgspec.structs.replace(row, last=departure.broker, gone_ms=departure.gone_ms)
