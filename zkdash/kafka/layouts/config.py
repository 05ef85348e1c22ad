"""/config/topics/T: what a topic overrides. Source: kafka.zk.ConfigEntityZNode, version 1 since 0.8.1."""

from __future__ import annotations

from zkdash.kafka.layouts import document
from zkdash.kafka.layouts.document import Fields, Parsed, few_of, kind_of, quote
from zkdash.kafka.values import TopicConfig, Unparsable


def parse_topic_config(data: bytes | None) -> Parsed[TopicConfig]:
    """The overrides. Null or empty data means none, as it does to the broker."""
    if not data:
        return TopicConfig({}), ()
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
    texts = {name: value for name, value in config.items() if isinstance(value, str)}
    return TopicConfig(texts), tuple(fields.reasons)
