"""/config/changes: every broker watches it, and purges what is old when something new comes.

After kafka.common.ZkNodeChangeNotificationListener: notifications older than 15 minutes go, and only then.
"""

from __future__ import annotations

from zkdash.demo import clock, documents, session

PATH = "/config/changes"
EXPIRY_MS = 15 * 60 * 1000


def notify(zookeeper: session.Session, entity_path: str) -> None:
    """Tell every broker that the overrides of an entity (`topics/T`) were written; write them first."""
    zookeeper.create(f"{PATH}/config_change_", documents.config_change(entity_path), sequence=True)


def watch(zookeeper: session.Session, time: clock.Clock) -> None:
    """Be told of notifications to come, and purge at each."""

    def came() -> None:
        for name in zookeeper.children(PATH, then=came):
            created_ms = zookeeper.created_ms(f"{PATH}/{name}")
            if created_ms is not None and time.wall_ms() - created_ms > EXPIRY_MS:
                zookeeper.delete(f"{PATH}/{name}")

    zookeeper.children(PATH, then=came)
