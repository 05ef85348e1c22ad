"""/config/changes: every broker watches it, reads what changed, and purges what is old when something comes.

After kafka.common.ZkNodeChangeNotificationListener: notifications older than 15 minutes go, and only then.
Versions 1 and 2 are understood (kafka.server.ZkConfigManager of 3.9), anything else is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from zkdash.demo.runtime import clock, session
from zkdash.kafka import paths

PATH = paths.CONFIG_CHANGES
EXPIRY_MS = 15 * 60 * 1000

# An entity (`topics/T`) and its configuration's bytes, None where there is none.
Handler = Callable[[str, bytes | None], None]


def watch(zookeeper: session.Session, time: clock.Clock, handle: Handler) -> None:
    """Watch for notifications to come, handle what each is about, and purge."""
    processed: set[str] = set()

    def process() -> None:
        names = zookeeper.children(PATH, then=process)
        fresh = [name for name in names if name not in processed]
        reads = zookeeper.get_all([f"{PATH}/{name}" for name in fresh])
        entities = dict.fromkeys(_entity(read.data) for read in reads if read is not None)
        for entity in filter(None, entities):
            read = zookeeper.get(f"/config/{entity}")
            handle(entity, None if read is None else read.data)
        processed.update(fresh)
        for name in names:
            created_ms = zookeeper.created_ms(f"{PATH}/{name}")
            if created_ms is not None and time.wall_ms() - created_ms > EXPIRY_MS:
                zookeeper.delete(f"{PATH}/{name}")

    processed.update(zookeeper.children(PATH, then=process))


def _entity(data: bytes) -> str | None:
    """`topics/T` or the like; None for what a broker of 3.9 does not understand."""
    try:
        value = json.loads(data)
        if value["version"] == 1:
            return f"{value['entity_type']}/{value['entity_name']}"
        return str(value["entity_path"]) if value["version"] == 2 else None
    except (ValueError, TypeError, KeyError):
        return None
