"""Access: who may do what with which resource of Kafka, and until when delegation tokens hold."""

from __future__ import annotations

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables import acl_rows, topic_queries
from zkdash.cluster.tables.acl_rows import AclRow
from zkdash.live.parts import Block, PageKey, Table
from zkdash.live.snapshot import Snapshot
from zkdash.web.configs import acl_table, entity_cells
from zkdash.web.frame import cells, links, listing, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty

Entry = tuple[Snapshot, AclRow]

_UNKNOWN = "Access is not known before the first load from ZooKeeper."


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    selection = acl_rows.select(snapshot.state, query)
    refused = acl_rows.refused(snapshot.state)
    table = tables.part(
        "acls-rows",
        COLUMNS,
        (
            (links.element_id("acl", f"{row.path} {row.index}"), row.status, (snapshot, row))
            for row in selection.rows
        ),
        _empty(snapshot, query, refused=bool(refused)),
        problems=lambda entry: links.problems(entry[0].cluster, entry[1].path),
    )
    return View(
        title="Access",
        parts=(
            Block(id="unreadable", template="frame/unreadable.html", values=refused),
            table,
            _tokens(snapshot, refused=bool(refused)),
            *listing.blocks(SPEC, query, selection, "entries"),
        ),
        context={
            **listing.context(SPEC, query, COLUMNS, "Filter: principal, resource…"),
            "token_headings": tables.headings(acl_table.TOKENS, ""),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, ((snapshot, row) for row in selection.rows)),
        total=selection.matched,
        extra=lambda: {
            "tokens": list(tables.records(acl_table.TOKENS, _held(snapshot))),
            "unreadable": [{"path": path, "reason": reason} for path, reason in refused],
        },
    )


def _held(snapshot: Snapshot) -> list[acl_table.TokenEntry]:
    return [(snapshot.cluster, row) for row in acl_rows.tokens(snapshot.state)]


def _tokens(snapshot: Snapshot, *, refused: bool) -> Table:
    if not snapshot.state.loaded:
        empty = _UNKNOWN
    elif refused:
        empty = "No delegation token that may be listed."
    else:
        empty = "No delegation token is in ZooKeeper."
    return tables.part(
        "tokens-rows",
        acl_table.TOKENS,
        ((links.element_id("token", entry[1].id), Severity.OK, entry) for entry in _held(snapshot)),
        Empty(empty),
        problems=lambda entry: links.problems(entry[0], entry[1].path),
    )


def _empty(snapshot: Snapshot, query: topic_queries.Query, *, refused: bool) -> Empty:
    if not snapshot.state.loaded:
        return Empty(_UNKNOWN)
    if query.q or query.status:
        return Empty(f"No entry matches {listing.words(query)}.", "?", "Clear filter")
    if refused:
        return Empty("No ACL that may be read; what may not be read is unknown.")
    return Empty("No ACL is in ZooKeeper: the brokers do not authorize by it, or nobody was given any right.")


def _resource(snapshot: Snapshot, row: AclRow) -> Cell:
    """With its page, where the entry is about one topic or group that is there."""
    href = ""
    if (
        row.pattern == acl_rows.LITERAL
        and row.resource_type == "Topic"
        and row.resource in snapshot.state.topics
    ):
        href = links.topic(snapshot.cluster, row.resource)
    elif (
        row.pattern == acl_rows.LITERAL
        and row.resource_type == "Group"
        and row.resource in snapshot.state.groups
    ):
        href = links.group(snapshot.cluster, row.resource)
    return entity_cells.Entity(row.resource, href)


def _of(column: Column[AclRow]) -> Column[Entry]:
    return Column(column.name, column.heading, lambda entry: column.cell(entry[1]))


COLUMNS: tuple[Column[Entry], ...] = (
    Column("status", "Status", lambda entry: cells.Status(entry[1].status, entry[1].words)),
    Column("resource_type", "Type", lambda entry: cells.Text(entry[1].resource_type)),
    Column("resource", "Resource", lambda entry: _resource(*entry)),
    Column(
        "pattern",
        "Pattern",
        lambda entry: cells.Text(entry[1].pattern),
        title="literal: this name, or * for all; prefixed: every name that begins so",
    ),
    *map(_of, acl_table.ENTRY),
    Column(
        "changed",
        "Changed",
        lambda entry: cells.known(entry[1].changed, cells.Moment, "the znode may not be read"),
    ),
    Column("path", "Path", lambda entry: cells.Path(entry[1].path, cluster=entry[0].cluster)),
)
SPEC = listing.Spec(sorts=acl_rows.SORTS)

PAGE = Page(
    name="acls",
    route="acls/",
    template="configs/access.html",
    look=look,
    areas=frozenset({"acls"}),
    canonical=SPEC.canonical,
    shape=shapes.Shape(
        (COLUMNS,),
        {"tokens": shapes.many(shapes.row(acl_table.TOKENS)), "unreadable": entity_cells.UNREADABLE},
    ),
    section="Cluster",
    label="Access",
)
