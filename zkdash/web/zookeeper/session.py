"""Session: the ephemeral znodes that one session with ZooKeeper owns, wherever they are mirrored."""

from __future__ import annotations

from zkdash import live
from zkdash.cluster.tables.query import Selection
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.live.tree.znodes import Znodes
from zkdash.web.frame import links, listing, shapes, tables
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Empty
from zkdash.web.zookeeper import rows
from zkdash.web.zookeeper.rows import COLUMNS, SPEC, Row
from zkdash.znode import Znode


def look(snapshot: Snapshot, key: PageKey) -> View:
    text, (query, _) = key.args[0], SPEC.read(key.query)
    session, znodes = links.session_number(text), live.znodes_of(snapshot.cluster)
    chosen = Selection[Row]((), 0, 0, 1, 1, {})
    if session is not None and znodes is not None:
        shared_znodes: Znodes = znodes
        chosen = rows.select(
            znodes.owned(session).paths(), query, lambda path: _row(snapshot.cluster, shared_znodes, path)
        )
    gone = (
        "" if session is not None else f"“{text}” is no session: its id is 0x and 1 to 16 hexadecimal digits."
    )
    table = rows.table("owned-rows", COLUMNS, chosen.rows, snapshot, _empty(snapshot, listing.words(query)))
    return View(
        title=f"Session {text}",
        parts=(table, *listing.tally(SPEC, query, chosen, "znodes")),
        context={**listing.context(SPEC, query, COLUMNS, "Filter: path, kind:sequential"), "severities": ()},
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, chosen.rows),
        total=chosen.matched,
        gone=gone,
    )


def render_key(snapshot: Snapshot, key: PageKey) -> object:
    """Another value whenever the session gained, lost or wrote a znode."""
    session, znodes = links.session_number(key.args[0]), live.znodes_of(snapshot.cluster)
    return None if session is None or znodes is None else znodes.changes(session)


def keep_alive(key: PageKey) -> None:
    session, znodes = links.session_number(key.args[0]), live.znodes_of(str(key.cluster))
    if session is not None and znodes is not None:
        znodes.keep_session_alive(session)


def _row(cluster: str, znodes: Znodes, path: str) -> Row:
    read = znodes.held(path)
    if not isinstance(read, Znode):
        return Row(cluster, path, path, None, None, "it is just being read")
    return Row(cluster, path, path, read.stat, 0)  # an ephemeral znode cannot have children


def _empty(snapshot: Snapshot, words: str) -> Empty:
    if not snapshot.state.loaded:
        return Empty("Znodes are not known before the first load from ZooKeeper.")
    if words:
        return Empty(f"It owns no znode that matches {words}.", "?", "Clear filter")
    return Empty("It owns no ephemeral znode among those that are mirrored, or has ended.")


PAGE = Page(
    name="session",
    route="sessions/<name:session>/",
    template="zookeeper/session.html",
    look=look,
    canonical=SPEC.canonical,
    shape=shapes.Shape((COLUMNS,)),
    render_key=render_key,  # which znodes a revision changed is compared, not told
    keep_alive=keep_alive,
)
