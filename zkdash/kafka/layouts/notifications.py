"""Sequential znodes by which brokers and the controller tell each other what to read again.

Source: kafka.zk.ConfigEntityChangeNotificationZNode (a bare topic in 0.8.1 and 0.8.2, version 1 in 0.9.0 and
0.10.0, version 2 from 0.10.1), AclChangeNotificationSequenceZNode (0.9+, extended from 2.0),
DelegationTokenChangeNotificationSequenceZNode (1.1+), IsrChangeNotificationSequenceZNode (0.9+) and
LogDirEventNotificationSequenceZNode (1.0+).
"""

from __future__ import annotations

import msgspec

from zkdash.kafka.documents import document, entries, plain
from zkdash.kafka.documents.document import Fields, Parsed
from zkdash.kafka.values import AclChange, ConfigChange, IsrChange, LogDirEvent, TokenChange, Unparsable

_TEXT = msgspec.json.Decoder(str)
LITERAL = "LITERAL"


def parse_config_change(data: bytes | None) -> Parsed[ConfigChange]:
    """The path of the entity below /config, in all three forms."""
    topic = _bare_topic(data)
    if topic is not None:
        return ConfigChange(0, f"topics/{topic}"), ()
    found = document.decode(data, "a config change")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    version = fields.version(1, 2, required=True)
    if version == 1:
        kind, name = fields.text("entity_type"), fields.text("entity_name")
        path = None if kind is None or name is None else f"{kind}/{name}"
    else:
        path = fields.text("entity_path")
    if version is None or path is None:
        return fields.unparsable()
    return ConfigChange(version, path), tuple(fields.reasons)


def parse_acl_change(data: bytes | None) -> Parsed[AclChange]:
    """Type:name of a resource, as text: the name may hold colons, the type none."""
    text, reasons = plain.parse_text(data, "the type and name of a resource")
    if isinstance(text, Unparsable):
        return text, reasons
    of, colon, name = text.partition(":")
    if not colon:
        return document.unparsable("no colon where the type and name of a resource belong")
    return AclChange(of, name, LITERAL), reasons


def parse_extended_acl_change(data: bytes | None) -> Parsed[AclChange]:
    """The resource whose prefixed ACL changed."""
    found = document.decode(data, "an ACL change")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    fields.version(1)
    of, name, pattern = fields.text("resourceType"), fields.text("name"), fields.text("patternType")
    if of is None or name is None or pattern is None:
        return fields.unparsable()
    return AclChange(of, name, pattern), tuple(fields.reasons)


def parse_token_change(data: bytes | None) -> Parsed[TokenChange]:
    """That there is one: what it holds does not enter."""
    del data
    return TokenChange(), ()


def parse_isr_change(data: bytes | None) -> Parsed[IsrChange]:
    """The partitions. A wrong entry is noted and left out."""
    pairs, reasons = entries.parse_entries(data, "an ISR change", "partitions", entries.partition)
    return (pairs if isinstance(pairs, Unparsable) else IsrChange(pairs)), reasons


def parse_log_dir_event(data: bytes | None) -> Parsed[LogDirEvent]:
    """The broker and what happened to it."""
    found = document.decode(data, "a log directory event")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    fields.version(1)
    broker, event = fields.integer("broker"), fields.integer("event")
    if broker is None or event is None:
        return fields.unparsable()
    if event != 1:
        fields.note(f"event {event} is not known (1 is)")
    return LogDirEvent(broker, event), tuple(fields.reasons)


def _bare_topic(data: bytes | None) -> str | None:
    try:
        return _TEXT.decode(data or b"")
    except (ValueError, RecursionError):
        return None
