"""Children of /config/changes: what tells brokers to read a configuration again, in the form of each release.

Source: kafka.server.DynamicConfigManager and kafka.zk.ConfigEntityChangeNotificationZNode. The value is
always written first: the notification only says which znode to read.
"""

from __future__ import annotations

import enum
from typing import Final

from zkdash.kafka import paths
from zkdash.kafka.payloads.editing import write

CHANGES: Final = paths.CONFIG_CHANGES
PREFIX: Final = f"{CHANGES}/config_change_"


class Form(enum.Enum):
    """How a notification is written."""

    NAME = "a bare topic name"  # 0.8.1 and 0.8.2
    TYPE = "version 1"  # 0.9.0 and 0.10.0, still read by all later ones; topics and clients only
    PATH = "version 2"  # 0.10.1 to 3.9


def of_topic(topic: str, form: Form) -> bytes:
    """The notification of a topic's new configuration."""
    if form is Form.NAME:
        return write(topic)
    if form is Form.TYPE:
        return write({"version": 1, "entity_type": "topics", "entity_name": topic})
    return of_entity(f"topics/{topic}")


def of_entity(path: str) -> bytes:
    """The notification of any entity, by its path below /config ("brokers/1"): version 2 only."""
    return write({"version": 2, "entity_path": path})
