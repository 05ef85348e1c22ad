"""The Access tables: who may do what with which resource, and until when delegation tokens hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState, Seen
from zkdash.cluster.tables import filters
from zkdash.cluster.tables.query import Keys, Query, Selection, choose
from zkdash.kafka import paths
from zkdash.kafka.values import AclEntry, ResourceAcl, Token, Unparsable
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import Unreadable

LITERAL, PREFIXED = "literal", "prefixed"
ANY = "*"  # the name that a literal ACL has for every resource of its type
_NO_BROKERS: frozenset[int] = frozenset()


class AclRow(msgspec.Struct, frozen=True):
    """One entry of one resource's ACL, or the whole of it where it can't be read. `index` counts the entries.

    `changed` is the mtime in epoch milliseconds, None where the znode may not be read.
    """

    status: Severity
    words: str
    resource_type: str
    resource: str
    pattern: str
    entry: AclEntry | Unparsable | Unreadable
    index: int
    changed: int | None
    path: str


class TokenRow(msgspec.Struct, frozen=True):
    """One delegation token: all that may be known of it."""

    id: str
    token: Token | Unparsable | Unreadable
    path: str


def _of_entry(name: str) -> Keys[AclRow]:
    return {name: lambda row: getattr(row.entry, name, None)}


_KEYS: Keys[AclRow] = {
    "status": lambda row: row.status.rank,
    "resource_type": lambda row: row.resource_type,
    "resource": lambda row: row.resource,
    "pattern": lambda row: row.pattern,
    **_of_entry("principal"),
    **_of_entry("permission_type"),
    **_of_entry("operation"),
    **_of_entry("host"),
    "changed": lambda row: row.changed,
    "path": lambda row: row.path,
}
SORTS = tuple(_KEYS)


def select(state: ClusterState, query: Query) -> Selection[AclRow]:
    """The Access page: what is wrong first, then by resource, in the order of the entries.

    The words of a filter are looked for in every column.
    """
    wanted = filters.parse(query.q, state)
    every = [row for path, seen in state.acls.items() for row in _rows(path, seen)]
    rows = [row for row in every if wanted.admits(_text(row), row.status, _NO_BROKERS)]
    rows.sort(key=_order)
    return choose(rows, query, _KEYS, lambda row: row.status, total=len(every))


def of_topic(state: ClusterState, name: str) -> tuple[AclRow, ...]:
    """The entries that hold for a topic: its own, those of every topic, those of how its name begins."""
    candidates = [f"{paths.ACLS}/Topic/{name}", f"{paths.ACLS}/Topic/{ANY}"]
    prefixed = f"{paths.EXTENDED_ACLS}/prefixed/Topic/"
    candidates += (prefixed + name[:end] for end in range(1, len(name) + 1))
    seen = ((path, state.acls.get(path)) for path in dict.fromkeys(candidates))
    return tuple(row for path, acl in seen if acl is not None for row in _rows(path, acl))


def tokens(state: ClusterState) -> tuple[TokenRow, ...]:
    """The delegation tokens: the unreadable and malformed first, then as they end."""
    rows = [TokenRow(name, seen.value, f"{paths.TOKENS}/{name}") for name, seen in state.tokens.items()]
    return tuple(sorted(rows, key=lambda row: (_ends(row), row.id)))


def refused(state: ClusterState) -> tuple[tuple[str, str], ...]:
    """Path and reason of each directory of ACLs or tokens that may not be read."""
    roots = (paths.ACLS, paths.EXTENDED_ACLS, "/delegation_token")
    return tuple(
        (path, why.reason)
        for path, why in sorted(state.refused.items())
        if any(path == root or path.startswith(root + "/") for root in roots)
    )


def _rows(path: str, seen: Seen[ResourceAcl]) -> Iterator[AclRow]:
    """An ACL without entries allows and denies nothing: it has no row."""
    changed = None if seen.znode is None else seen.znode.mtime
    if isinstance(seen.value, ResourceAcl):
        status, words = Severity.OK, "ok"
        entries: Iterable[AclEntry | Unparsable | Unreadable] = seen.value.entries
    elif isinstance(seen.value, Unreadable):
        status, words, entries = Severity.UNKNOWN, "not readable", (seen.value,)
    else:
        status, words, entries = Severity.WARNING, "unparsable", (seen.value,)
    place = paths.locate(path)
    pattern = PREFIXED if place.kind is Kind.PREFIXED_ACL else LITERAL
    for index, entry in enumerate(entries):
        yield AclRow(status, words, place.name, place.key, pattern, entry, index, changed, path)


def _order(row: AclRow) -> tuple[object, ...]:
    return row.status.rank, row.resource_type, row.resource, row.pattern, row.index


def _text(row: AclRow) -> str:
    pieces = [row.resource_type, row.resource, row.pattern, row.path]
    if isinstance(row.entry, AclEntry):
        pieces += (row.entry.principal, row.entry.permission_type, row.entry.operation, row.entry.host)
    return "\n".join(pieces).casefold()


def _ends(row: TokenRow) -> int:
    return row.token.expiry_timestamp if isinstance(row.token, Token) else -1
