"""/migration: how far a KRaft controller has taken the metadata over.

Source: kafka.zk.MigrationZNode, version 0, 3.4 to 3.9 (KIP-866).
"""

from __future__ import annotations

from zkdash.kafka.documents import document
from zkdash.kafka.documents.document import LONG_MAX, Fields, Parsed
from zkdash.kafka.values import Migration, Unparsable


def parse_migration(data: bytes | None) -> Parsed[Migration]:
    found = document.decode(data, "the state of a migration")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    fields.version(0)
    controller = fields.integer("kraft_controller_id", low=-1)
    controller_epoch = fields.integer("kraft_controller_epoch", low=-1)
    offset = fields.integer("kraft_metadata_offset", low=-1, high=LONG_MAX)
    epoch = fields.integer("kraft_metadata_epoch", low=-1)
    if controller is None or controller_epoch is None or offset is None or epoch is None:
        return fields.unparsable()
    return Migration(controller, controller_epoch, offset, epoch), tuple(fields.reasons)
