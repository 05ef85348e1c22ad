"""/config/<type>/<entity>: what a topic overrides, and what clients, users, brokers and addresses are given.

Source: kafka.zk.ConfigEntityZNode, version 1 since 0.8.1.
"""

from __future__ import annotations

from zkdash.kafka import secrets
from zkdash.kafka.documents import document
from zkdash.kafka.documents.document import Fields, Parsed, few_of, kind_of, quote
from zkdash.kafka.values import EntityConfig, TopicConfig, Unparsable


def parse_topic_config(data: bytes | None) -> Parsed[TopicConfig]:
    """The overrides. Null or empty data means none, as it does to the broker."""
    config, reasons = _parse(data)
    return (config if isinstance(config, Unparsable) else TopicConfig(config)), reasons


def parse_entity_config(data: bytes | None) -> Parsed[EntityConfig]:
    """Quotas and settings of any other entity, as `kafka.secrets` lets them in. Null data holds none."""
    if data == secrets.WHOLLY_HIDDEN:
        return document.unparsable("not a configuration; it may hold secrets, so nothing of it is shown")
    config, reasons = _parse(data)
    return (config if isinstance(config, Unparsable) else EntityConfig(config)), reasons


def _parse(data: bytes | None) -> Parsed[dict[str, str]]:
    if not data:
        return {}, ()
    found = document.decode(data, "a configuration")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    fields.version(1)
    config = fields.table("config")
    if config is None:
        return fields.unparsable()
    wrong = [name for name, value in config.items() if not isinstance(value, str)]
    fields.reasons += few_of(wrong, lambda n: f"{quote(n)} holds {kind_of(config[n])} where text belongs")
    return {name: value for name, value in config.items() if isinstance(value, str)}, tuple(fields.reasons)
