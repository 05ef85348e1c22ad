"""Configuration: every topic, client, user, broker and address with settings of its own, and what waits to be
read again."""

from __future__ import annotations

from zkdash.cluster.tables import config_rows, notification_rows, topic_queries
from zkdash.cluster.tables.config_rows import ConfigRow
from zkdash.kafka.configs import entity_names
from zkdash.kafka.values import Unparsable
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.configs import entity_cells, notification_table
from zkdash.web.frame import cells, links, listing, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Empty, ListColumn
from zkdash.znode import Unreadable


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    state = snapshot.state
    selection = config_rows.select(state, query, tables.keys(COLUMNS))
    pending = notification_rows.every(state)
    refused = tuple((path, why.reason) for path, why in sorted(state.refused.items()) if _is_ours(path))
    table = tables.part(
        "configs-rows",
        COLUMNS,
        (
            (links.element_id("config", row.path), row.status, (snapshot.cluster, row))
            for row in selection.rows
        ),
        _empty(snapshot, query, refused=bool(refused)),
        problems=lambda entry: links.problems(entry[0], entry[1].path),
    )
    return View(
        title="Configuration",
        parts=(
            Block(id="unreadable", template="frame/unreadable.html", values=refused),
            table,
            notification_table.table(snapshot.cluster, pending, _no_notification(snapshot)),
            *listing.blocks(SPEC, query, selection, "entities"),
        ),
        context={
            **listing.context(SPEC, query, COLUMNS, "Filter: entity, option or value"),
            "notification_headings": tables.headings(notification_table.COLUMNS, ""),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, ((snapshot.cluster, row) for row in selection.rows)),
        total=selection.matched,
        extra=lambda: {
            "notifications": notification_table.records(snapshot.cluster, pending),
            "unreadable": [{"path": path, "reason": reason} for path, reason in refused],
        },
    )


def _is_ours(path: str) -> bool:
    """Whether configurations or notifications are at or below a directory."""
    return path.startswith(("/config", "/isr_change", "/log_dir_event")) or path.endswith("changes")


def _empty(snapshot: Snapshot, query: topic_queries.Query, *, refused: bool) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Configurations are not known before the first load from ZooKeeper.")
    if query.q or query.status:
        return Empty(f"No entity matches {listing.words(query)}.", "?", "Clear filter")
    if refused:
        return Empty("Nothing that may be read has settings of its own; what may not be read is unknown.")
    return Empty("Nothing has settings of its own: everything goes by the brokers’ own files.")


def _no_notification(snapshot: Snapshot) -> str:
    if not snapshot.state.loaded:
        return "Notifications are not known before the first load from ZooKeeper."
    return "No notification lies in ZooKeeper."


def _entity(cluster: str, row: ConfigRow) -> Cell:
    href = ""
    if row.key:
        is_topic = row.noun == entity_names.TOPIC
        href = links.topic(cluster, row.key) if is_topic else links.broker(cluster, int(row.key))
    return entity_cells.Entity(row.name, href)


def _settings(row: ConfigRow) -> Cell:
    return cells.known(row.settings, lambda settings: entity_cells.Settings.of(settings.items()), "")


def _count(row: ConfigRow) -> int | None:
    return None if isinstance(row.settings, Unparsable | Unreadable) else len(row.settings)


COLUMNS: tuple[ListColumn[ConfigRow], ...] = (
    ListColumn(
        "status",
        "Status",
        lambda entry: cells.Status(entry[1].status, entry[1].words),
        key=lambda row: row.status.rank,
    ),
    ListColumn("type", "Type", lambda entry: cells.Text(entry[1].noun), key=lambda row: row.noun),
    ListColumn("entity", "Entity", lambda entry: _entity(*entry), key=lambda row: row.name),
    ListColumn(
        "settings",
        "Settings",
        lambda entry: _settings(entry[1]),
        title="sorted by how many there are",
        key=_count,
    ),
    ListColumn(
        "changed",
        "Changed",
        lambda entry: cells.known(entry[1].changed, cells.Moment, "the znode may not be read"),
        key=lambda row: row.changed,
    ),
    ListColumn(
        "path", "Path", lambda entry: cells.Path(entry[1].path, cluster=entry[0]), key=lambda row: row.path
    ),
)
SPEC = listing.Spec(sorts=tuple(tables.keys(COLUMNS)))

PAGE = Page(
    name="configs",
    route="configs/",
    template="configs/configs.html",
    look=look,
    areas=frozenset({"configs", "notifications", "topics"}),
    canonical=SPEC.canonical,
    shape=shapes.Shape(
        (COLUMNS,),
        {
            "notifications": shapes.many(shapes.row(notification_table.COLUMNS)),
            "unreadable": entity_cells.UNREADABLE,
        },
    ),
    section="Cluster",
    label="Configuration",
)
