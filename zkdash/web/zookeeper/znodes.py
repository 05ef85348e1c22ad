"""Znodes: the tree below the cluster's chroot as ZooKeeper holds it, one znode at a time. Read-only."""

from __future__ import annotations

from collections.abc import Sequence

from zkdash import live
from zkdash.cluster.tables.query import Query, Selection
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.live.tree.znodes import Seen, Znodes, is_mirrored, why_impossible
from zkdash.web.frame import listing, shapes, subjects, tables
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Empty
from zkdash.web.history import timeline
from zkdash.web.zookeeper import facts as znode_facts
from zkdash.web.zookeeper import rows
from zkdash.web.zookeeper.facts import Found, ZnodeFacts
from zkdash.web.zookeeper.rows import SPEC, Row
from zkdash.znode import Stat, Unreadable, Znode

NAME = "znodes"
_LONGEST = 4096


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """The page for a request: ZooKeeper is asked for what is not mirrored."""
    return _view(snapshot, key, asks=True)


def look(snapshot: Snapshot, key: PageKey) -> View:
    """What is live of it: what is mirrored, and what ZooKeeper told last."""
    return _view(snapshot, key, asks=False)


def render_key(snapshot: Snapshot, key: PageKey) -> object:
    """Another value whenever the znode, a child or what ZooKeeper tells of them has changed."""
    znodes = live.znodes_of(snapshot.cluster)
    return None if znodes is None else znodes.changes(key.args[0])


def keep_alive(key: PageKey) -> None:
    """Have what is not mirrored asked for again while the page is open."""
    znodes = live.znodes_of(str(key.cluster))
    if znodes is not None:
        znodes.keep_alive(key.args[0])


def _view(snapshot: Snapshot, key: PageKey, *, asks: bool) -> View:
    (path,) = key.args
    query, _ = SPEC.read(key.query)
    if why := why_impossible(path) or ("it is too long" if len(path) > _LONGEST else ""):
        znode = Found(path, False, None, None, Seen(), f"No znode can have this path: {why}.")
    else:
        znode = znode_facts.find(snapshot, path, asks=asks)
    znodes = live.znodes_of(snapshot.cluster)
    children = None if znodes is None or znode.gone else _Children(snapshot, znodes, znode, asks=asks)
    chosen = Selection[Row]((), 0, 0, 1, 1, {}) if children is None else children.select(query)
    columns = rows.COLUMNS if znode.is_mirrored else rows.NAMES_ONLY
    table = rows.table("children-rows", columns, chosen.rows, snapshot, _empty(znode, children, query))
    facts = Block(id="facts", template="zookeeper/facts.html", values=znode_facts.facts(snapshot, znode))
    return View(
        title=_title(facts.values),
        parts=(facts, table, *listing.tally(SPEC, query, chosen, "children")),
        context={
            **listing.context(SPEC, query, columns, "Filter: name, kind:ephemeral"),
            "severities": (),
            "timeline": timeline.about(snapshot, "path", path),
        },
        fields=tables.fields(columns),
        records=lambda: tables.records(columns, chosen.rows),
        total=chosen.matched,
        extra=lambda: {"znode": znode_facts.record(snapshot, znode)},
        gone=znode.gone,
        version=(znode.seen, render_key(snapshot, key)),
    )


def _title(facts: ZnodeFacts) -> str:
    return "Znodes" if facts.path == "/" else facts.name


class _Children:
    """The children of one znode: of what is mirrored all is known, of everything else first the names."""

    def __init__(self, snapshot: Snapshot, znodes: Znodes, znode: Found, *, asks: bool) -> None:
        self._cluster, self._znodes, self._found, self._asks = snapshot.cluster, znodes, znode, asks
        self._base = znode.path.rstrip("/")
        self._folder = znodes.folder(znode.path)
        self.doubt = "" if znode.is_mirrored else _doubt(znode.seen)

    def select(self, query: Query) -> Selection[Row]:
        if self._found.is_mirrored:
            return rows.select(self._folder.names(), query, self._mirrored)
        return rows.select(self._names(), query, self._unknown, self._rows)

    def _names(self) -> Sequence[str]:
        """What ZooKeeper told, and what is mirrored below a znode that is not (the root)."""
        visit = self._found.seen.visit
        visited_names = visit.children if visit is not None and isinstance(visit.children, tuple) else ()
        names = self._folder.names()
        return sorted({*visited_names, *names}) if names else visited_names

    def _path(self, name: str) -> str:
        return f"{self._base}/{name}"

    def _mirrored(self, name: str) -> Row:
        path = self._path(name)
        read, children = self._znodes.held(path), self._folder.children(name)
        if isinstance(read, Znode):
            return Row(self._cluster, path, name, read.stat, children)
        why = read.reason if isinstance(read, Unreadable) else "it is just being read"
        return Row(self._cluster, path, name, None, None, why)

    def _unknown(self, name: str) -> Row:
        return Row(self._cluster, self._path(name), name, None, None, "only its name is known")

    def _rows(self, names: Sequence[str]) -> list[Row]:
        """Those that are shown: what of them is not mirrored is asked for, now or soon."""
        others = [name for name in names if not is_mirrored(self._path(name))]
        seen = self._found.seen
        if others and self._asks:
            seen = self._znodes.look_at(self._found.path, others)
        elif others:
            self._znodes.expect(self._found.path, others)
        return [self._row(name, seen) for name in names]

    def _row(self, name: str, seen: Seen) -> Row:
        if is_mirrored(self._path(name)):
            return self._mirrored(name)
        path, stat = self._path(name), seen.stats.get(name)
        if isinstance(stat, Stat):
            return Row(self._cluster, path, name, stat, stat.num_children)
        if isinstance(stat, Unreadable):
            return Row(self._cluster, path, name, None, None, stat.reason)
        why = "it is gone meanwhile" if name in seen.stats else seen.trouble or "it is not read yet"
        return Row(self._cluster, path, name, None, None, why)


def _doubt(seen: Seen) -> str:
    """Why the names of the children are not known, "" where they are."""
    if seen.visit is None:
        return seen.trouble or "They are not read yet."
    return seen.visit.children.reason if isinstance(seen.visit.children, Unreadable) else ""


def _empty(znode: Found, children: _Children | None, query: Query) -> Empty:
    if znode.gone or children is None:
        return Empty("There is nothing to show of a znode that is not there.")
    if children.doubt:
        return Empty(f"Its children are not known. {children.doubt}")
    if isinstance(znode.read, Unreadable) and znode.is_mirrored:
        return Empty(f"Its children are not known. {znode.read.reason}")
    if query.q:
        return Empty(f"No child matches {listing.words(query)}.", "?", "Clear filter")
    return Empty("It has no children.")


PAGE = Page(
    name=NAME,
    route="znodes/<znode:path>",
    subject_of=lambda key: subjects.of_path(key.args[0]),
    template="zookeeper/znodes.html",
    look=look,
    canonical=SPEC.canonical,
    shape=shapes.Shape((rows.COLUMNS,), {"znode": znode_facts.RECORD}),
    section="ZooKeeper",
    label="Znodes",
    letter="z",
    render_key=render_key,  # which znodes a revision changed is compared, not told
    whole=whole,
    keep_alive=keep_alive,
)
