"""The options that a topic can have, for people who are about to set one."""

from __future__ import annotations

from zkdash.kafka.configs import option_units, topic_options
from zkdash.kafka.configs.topic_option_defaults import DEFAULTS
from zkdash.kafka.configs.topic_option_meanings import MEANINGS


def rows() -> list[tuple[str, str, str]]:
    """(name, what it sets, Kafka's own default) of each option, by name."""
    return [
        (name, MEANINGS.get(name, ""), valued(name, DEFAULTS.get(name, "")) or "none")
        for name in sorted(topic_options.KNOWN)
    ]


def valued(name: str, value: str) -> str:
    """A value with what it means in units: "1209600000 (14 d)"."""
    in_units = option_units.words(name, value)
    return f"{value} ({in_units})" if in_units else value
