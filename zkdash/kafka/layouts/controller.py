"""/controller and /controller_epoch: who leads the cluster, and how often that changed.

Source: kafka.zk.ControllerZNode (plain text in 0.8.0-beta1, version 1 0.8.0 to 3.3, version 2 from 3.4 with
KIP-866); kafka.zk.ControllerEpochZNode.
"""

from __future__ import annotations

from zkdash.kafka.documents import document, plain
from zkdash.kafka.documents.document import INT_MAX, Fields, Parsed
from zkdash.kafka.values import Controller, Unparsable

# The version given to a controller that 0.8.0-beta1 wrote as a bare number.
PLAIN = 0


def parse_controller(data: bytes | None) -> Parsed[Controller]:
    """The elected broker. Its version is 0 where the data is a bare broker id (0.8.0-beta1)."""
    if data and data.strip().lstrip(b"-").isdigit():
        number, reasons = plain.parse_number(data.strip(), "a broker id", high=INT_MAX)
        return (number if isinstance(number, Unparsable) else Controller(number, PLAIN)), reasons
    found = document.decode(data, "a controller")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    version = fields.version(1, 2)
    broker = fields.integer("brokerid")
    kraft = fields.integer("kraftControllerEpoch", optional=True, low=-1)
    timestamp = fields.timestamp()
    if broker is None:
        return fields.unparsable()
    return Controller(broker, 1 if version is None else version, timestamp, kraft), tuple(fields.reasons)


def parse_controller_epoch(data: bytes | None) -> Parsed[int]:
    """How many controllers were elected since the cluster began; the first one ends at 1."""
    return plain.parse_number(data, "a controller epoch", high=INT_MAX)
