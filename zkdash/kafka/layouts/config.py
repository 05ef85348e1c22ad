"""/config/<type>/<entity>: what a topic overrides, and what clients, users, brokers and addresses are given.

Source: kafka.zk.ConfigEntityZNode, version 1 since 0.8.1.
"""

from __future__ import annotations

import functools

from zkdash.kafka import secrets
from zkdash.kafka.documents import document
from zkdash.kafka.documents.document import Fields, Parsed, few_of, kind_of, quote
from zkdash.kafka.values import EntityConfig, TopicConfig, Unparsable

# Of how many topics what they override is remembered, and of none that is hostile.
_REMEMBERED = 1 << 12
_LONGEST_REMEMBERED = 1024


def parse_topic_config(data: bytes | None) -> Parsed[TopicConfig]:
    """The overrides. Null or empty data means none, as it does to the broker.

    Identical bytes give the identical object, as long as it is remembered: most topics are configured alike.
    """
    return _parse_topic(data) if data and len(data) > _LONGEST_REMEMBERED else _remembered(data)


def _parse_topic(data: bytes | None) -> Parsed[TopicConfig]:
    config, reasons = _parse(data)
    return (config if isinstance(config, Unparsable) else TopicConfig(config)), reasons


_remembered = functools.lru_cache(maxsize=_REMEMBERED)(_parse_topic)


def parse_entity_config(data: bytes | None) -> Parsed[EntityConfig]:
    """Quotas and settings of any other entity, as `kafka.secrets` lets them in. Null data holds none."""
    if data == secrets.WHOLLY_HIDDEN:
        return document.unparsable("not a configuration; it may hold secrets, so nothing of it is shown")
    config, reasons = _parse(data)
    return (config if isinstance(config, Unparsable) else EntityConfig(config)), reasons


def _parse(data: bytes | None) -> Parsed[dict[str, str]]:
    if not data:
        return {}, ()
    json_object = document.decode(data, "a configuration")
    if isinstance(json_object, Unparsable):
        return document.unparsable(json_object.reason)
    fields = Fields(json_object)
    fields.version(1)
    config = fields.table("config")
    if config is None:
        return fields.unparsable()
    wrong = [name for name, value in config.items() if not isinstance(value, str)]
    fields.reasons += few_of(wrong, lambda n: f"{quote(n)} holds {kind_of(config[n])} where text belongs")
    return {name: value for name, value in config.items() if isinstance(value, str)}, tuple(fields.reasons)
