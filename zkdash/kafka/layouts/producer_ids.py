"""/latest_producer_id_block: the ids of producers that were given out last.

Source: kafka.zk.ProducerIdBlockZNode, version 1, 0.11 to 3.9.
"""

from __future__ import annotations

from zkdash.kafka.documents import document
from zkdash.kafka.documents.document import Fields
from zkdash.kafka.values import ProducerIds, Unparsable


def parse_producer_ids(data: bytes | None) -> tuple[ProducerIds | Unparsable | None, tuple[str, ...]]:
    """The block, whose ends are text; None before the first one, when there is no data."""
    if not data:
        return None, ()
    found = document.decode(data, "a block of producer ids")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    fields.version(1)
    broker = fields.integer("broker")
    start, end = fields.long("block_start"), fields.long("block_end")
    if broker is None or start is None or end is None:
        return fields.unparsable()
    return ProducerIds(broker, start, end), tuple(fields.reasons)
