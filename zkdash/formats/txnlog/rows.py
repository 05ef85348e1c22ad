"""What one transaction does to one znode or session, as a row, and the codes of its types."""

from __future__ import annotations

from typing import Final, NamedTuple

CREATE: Final = 1
DELETE: Final = 2
SET_DATA: Final = 5
SET_ACL: Final = 7
CHECK: Final = 13
MULTI: Final = 14
CREATE2: Final = 15
RECONFIG: Final = 16
CREATE_CONTAINER: Final = 19
DELETE_CONTAINER: Final = 20
CREATE_TTL: Final = 21
ERROR: Final = -1
CREATE_SESSION: Final = -10
CLOSE_SESSION: Final = -11

# org.apache.zookeeper.ZooDefs.OpCode
TYPES: Final = {
    CREATE: "create",
    DELETE: "delete",
    SET_DATA: "setData",
    SET_ACL: "setACL",
    CHECK: "check",
    MULTI: "multi",
    CREATE2: "create2",
    RECONFIG: "reconfig",
    CREATE_CONTAINER: "createContainer",
    DELETE_CONTAINER: "deleteContainer",
    CREATE_TTL: "createTTL",
    ERROR: "error",
    CREATE_SESSION: "createSession",
    CLOSE_SESSION: "closeSession",
}


class Row(NamedTuple):
    """One operation. A multi is unfolded: a row for each part, in order.

    session: signed 64-bit id of the session that wrote, 0 for the server itself.
    cxid: the client's number of the request. zxid: the transaction; unique but for the rows of one multi
    or closeSession. time: epoch milliseconds by the leader's clock.
    op: index within the transaction, from 0. type: a code of TYPES. multi: part of a multi.
    failed: part of a multi of which a part failed, so that nothing of it happened.
    path, data: as written; None where the type has none, and data also for null.
    version: of the data after setData and reconfig, of the ACL after setACL, asked for by check.
    parent_cversion: after a create; None in logs of servers before 3.4. ephemeral: of a create.
    ttl_ms: of createTTL. timeout_ms: of createSession. error: ZooKeeper's code (KeeperException.Code).
    paths: of closeSession, the number of ephemerals that it removed, None where the log does not tell (before
    3.6). Each of them is a row of its own after it, with type closeSession and a path.
    acl: "scheme:id:perms" joined by ",". digest: of the whole tree after the transaction (3.6+), else None.
    """

    session: int
    cxid: int
    zxid: int
    time: int
    op: int
    type: int
    multi: bool = False
    failed: bool = False
    path: str | None = None
    data: bytes | None = None
    version: int | None = None
    parent_cversion: int | None = None
    ephemeral: bool | None = None
    ttl_ms: int | None = None
    timeout_ms: int | None = None
    error: int | None = None
    paths: int | None = None
    acl: str | None = None
    digest: int | None = None
