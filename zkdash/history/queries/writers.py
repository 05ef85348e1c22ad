"""Who wrote a transaction, as ZooKeeper's own logs tell: its session, and whose that was."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from zkdash.cluster.changes import row
from zkdash.history.store.tables import Tables
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import Kind

TABLES: Final = ("changes",)


class Writer(msgspec.Struct, frozen=True):
    """The session of a transaction, signed, 0 the server itself.

    `client` says whose it is in words, "" where it registered neither a broker nor a consumer. With `ended`
    the transaction is that session's end, by its client or because it expired.
    """

    session: int
    client: str = ""
    ended: bool = False


def look(tables: Tables, zxids: Collection[int]) -> Mapping[int, Writer]:
    """The writers of transactions, by zxid; those of which no log was read are missing. Raises QueryError."""
    if not zxids:
        return {}
    files = {"changes": {"zxid": (min(zxids), max(zxids))}}
    written = tables.rows(_WRITTEN, {"source": row.LOGGED, "zxids": sorted(zxids)}, files)
    sessions = sorted({each["session"] for each in written} - {0})
    clients = _clients(tables, sessions) if sessions else {}
    return {
        each["zxid"]: Writer(each["session"], clients.get(each["session"], ""), each["ended"])
        for each in written
    }


def _clients(tables: Tables, sessions: list[int]) -> dict[int, str]:
    """In words whose sessions are, by what they registered last."""
    registered = tables.rows(_REGISTERED, {"sessions": sessions})
    return {each["session"]: client for each in registered if (client := in_words(each["path"]))}


def in_words(path: str) -> str:
    """Whose session it is that owns an ephemeral at a path; "" where that does not tell."""
    place = paths.locate(path)
    if place.kind is Kind.BROKER:
        return f"broker {place.name}"
    return f"consumer {place.key} of group {place.name}" if place.kind is Kind.MEMBER else ""


_WRITTEN: Final = """
SELECT zxid, any_value(session) AS session, bool_or(type = 'closeSession') AS ended FROM changes
WHERE source = $source AND session IS NOT NULL AND zxid IN (SELECT unnest($zxids)) GROUP BY zxid
"""
_REGISTERED: Final = """
SELECT ephemeral_owner AS session, path FROM changes
WHERE ephemeral_owner IN (SELECT unnest($sessions))
    AND (starts_with(path, '/brokers/ids/') OR regexp_matches(path, '^/consumers/[^/]+/ids/'))
ORDER BY coalesce(zxid, zxid_upto)
"""
