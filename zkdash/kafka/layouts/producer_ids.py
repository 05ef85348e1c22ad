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
    json_object = document.decode(data, "a block of producer ids")
    if isinstance(json_object, Unparsable):
        return document.unparsable(json_object.reason)
    fields = Fields(json_object)
    fields.version(1)
    broker = fields.integer("broker")
    start, end = fields.long("block_start"), fields.long("block_end")
    if broker is None or start is None or end is None:
        return fields.unparsable()
    return ProducerIds(broker, start, end), tuple(fields.reasons)
