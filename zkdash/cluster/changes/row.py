"""One change to the tree or to a session, as a row: the same for ZooKeeper's logs and for a watcher.

Names, kinds and meaning only; `history` and `pipeline` make their Arrow and Spark schemas from `FIELDS`.
A row's key is (zxid, op_index) where the zxid is known. A transaction that failed is no row, nor is a multi
of which a part failed, nor a check. Types are ZooKeeper's own words (org.apache.zookeeper.ZooDefs.OpCode).
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

LOGGED: Final = "txnlog"
WATCHED: Final = "watch"

CREATES: Final = frozenset({"create", "create2", "createContainer", "createTTL"})
SETS: Final = frozenset({"setData", "reconfig"})
# closeSession with a path: an ephemeral that went with its session. deleteContainer: also the end of a TTL.
REMOVALS: Final = frozenset({"delete", "deleteContainer", "closeSession"})
SESSIONS: Final = frozenset({"createSession", "closeSession"})  # without a path: the session itself
OTHERS: Final = frozenset({"setACL"})
TYPES: Final = CREATES | SETS | REMOVALS | SESSIONS | OTHERS

# What Stat.ephemeralOwner holds where no session owns the znode (org.apache.zookeeper.server.EphemeralType).
CONTAINER_OWNER: Final = -(1 << 63)
TTL_OWNER: Final = -(1 << 56)  # and the milliseconds, of 40 bits, added to it

Kind = Literal["int64", "int32", "string", "binary", "bool"]


class Field(NamedTuple):
    """A column: its name, what it holds, and whether every row has it."""

    name: str
    kind: Kind
    meaning: str
    always: bool = False


FIELDS: Final = (
    Field("zxid", "int64", "the transaction; null where a watcher cannot know it"),
    Field("zxid_after", "int64", "the change came after this transaction", always=True),
    Field("zxid_upto", "int64", "and not after this one: the zxid where it is known", always=True),
    Field("op_index", "int32", "place within the transaction, from 0; gaps are checks", always=True),
    Field("source", "string", "txnlog, or watch", always=True),
    Field(
        "time", "int64", "epoch ms by the leader's clock; of what a watcher saw go by its own", always=True
    ),
    Field("session", "int64", "signed id of the session that wrote, 0 the server; null from a watcher"),
    Field("type", "string", "ZooKeeper's word for what was done, as create, setData, delete", always=True),
    Field("path", "string", "under the cluster's chroot, which is / itself; null of a session"),
    Field("data", "binary", "what was written, secrets replaced; null for null, for nothing, or if missed"),
    Field("version", "int32", "of the data after it; after setACL that of the ACL"),
    Field("ephemeral", "bool", "of a create"),
    Field("ephemeral_owner", "int64", "of a create: as Stat shows it, 0 for a persistent znode"),
    Field(
        "removed",
        "int32",
        "of a closed session: ephemerals that went; null where a log before 3.6 tells none",
    ),
    Field("acl", "string", "of create and setACL: scheme:id:perms joined by a comma, hashes hidden"),
)
