"""Clusters: one line a cluster, with its verdict. The only page over all of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.conf import settings
from django.utils.safestring import SafeString

from zkdash import live
from zkdash.alarms.open_alarms import first_seen
from zkdash.cluster.model.findings import Finding
from zkdash.cluster.model.severity import Severity
from zkdash.kafka.values import Controller
from zkdash.live.parts import Block, Rendered
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import banners, cells, links, shapes, tables, times
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.markup import format_html, format_html_join
from zkdash.web.frame.page import View
from zkdash.web.frame.tables import Column, Empty
from zkdash.zk.connection.session import Phase

NAME = "clusters"
# So many findings of a cluster are named.
_LEADING = 3
_NOT_LOADED = "not loaded from ZooKeeper yet"


class Verdict(Cell, frozen=True):
    """What is known of a cluster, in words: a sentence, or the worst of what is wrong.

    Of each finding `found` has the sentence, where it leads, and since when (epoch ms); `others` tells of
    those that are not named, which `href` lists.
    """

    sentence: str
    found: tuple[tuple[str, str, int], ...] = ()
    others: str = ""
    href: str = ""

    @property
    def plain(self) -> str:
        return self.sentence or "; ".join(filter(None, (*(claim[0] for claim in self.found), self.others)))

    def html(self) -> SafeString:
        shown = format_html_join(
            "; ",
            '<a href="{}">{}</a> since {}',
            ((href, sentence, times.time_html(since)) for sentence, href, since in self.found),
        )
        if self.others:
            shown = format_html('{}; <a href="{}">{}</a>', shown, self.href, self.others)
        return format_html('<td class="verdict">{}{}</td>', self.sentence, shown)


def view(names: Collection[str]) -> View:
    """Those clusters of the names that this process watches; where it watches none, the others say so."""
    snapshots = _snapshots(names)
    table = tables.part(
        "clusters-rows",
        tables.shown(COLUMNS),
        (
            (links.element_id("cluster", snapshot.cluster), _status(snapshot)[0], snapshot)
            for snapshot in snapshots
        ),
        _empty(names),
    )
    return View(
        title="Clusters",
        parts=(_banner(), table),
        context={"headings": tables.headings(tables.shown(COLUMNS), "")},
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, snapshots),
        total=len(snapshots),
    )


def rendered(names: Collection[str]) -> Rendered:
    """The page for the hub. Its revision is the sum of all, which grows with each; one zxid there is none."""
    return Rendered(parts=view(names).parts, revision=revision(names), zxid=None, as_of=as_of(names))


def revision(names: Collection[str]) -> int:
    return sum(snapshot.revision for snapshot in _snapshots(names))


def as_of(names: Collection[str]) -> float | None:
    """The oldest proof of all clusters that have one, in epoch seconds."""
    proofs = [snapshot.as_of for snapshot in _snapshots(names)]
    return min((proof for proof in proofs if proof is not None), default=None)


def stale(names: Collection[str]) -> bool:
    return any(snapshot.stale for snapshot in _snapshots(names))


def _snapshots(names: Collection[str]) -> list[Snapshot]:
    return [snapshot for name in names if (snapshot := live.current(name))]


def _banner() -> Block:
    lines = () if live.is_running() else (banners.Banner(Severity.CRITICAL, banners.no_watcher()),)
    return Block(id="banner", template="frame/banner.html", values=(lines, "", ""), is_kept=True)


def _empty(names: Collection[str]) -> Empty:
    if names:
        return Empty(f"Configured, but not watched by this process: {', '.join(names)}.")
    if live.names() or settings.ZKDASH_CLUSTERS:
        return Empty("No cluster may be seen by you yet. An administrator can grant you a role.")
    return Empty("No cluster is configured. Set ZKDASH_ZOOKEEPER=host:2181/chroot and start zkdash again.")


def _status(snapshot: Snapshot) -> tuple[Severity, str]:
    session = snapshot.session
    if session.phase in {Phase.REFUSED, Phase.LOST}:
        return Severity.CRITICAL, session.phase.value
    if not snapshot.state.loaded:
        return Severity.UNKNOWN, session.phase.value
    if session.phase is not Phase.LIVE:
        return Severity.WARNING, session.phase.value
    if not snapshot.leading:
        return Severity.OK, "ok"
    severity = snapshot.leading[0].severity
    return severity, severity.value


def _verdict(snapshot: Snapshot) -> Verdict:
    """The connection first: where it is broken, what the checks say is of the past."""
    trouble = banners.connection(snapshot)
    if trouble is not None:
        return Verdict(trouble.sentence)
    acknowledged = len(snapshot.findings) - len(snapshot.leading)
    noted = f"{acknowledged} acknowledged" if acknowledged else ""
    if not snapshot.leading:
        return Verdict(f"No check fails{f', but {noted}' if noted else ''}.")
    claims = tuple(_claim(snapshot, finding) for finding in snapshot.leading[:_LEADING])
    more = len(snapshot.leading) - len(claims)
    others = "" if not more else "1 more check fails" if more == 1 else f"{more} more checks fail"
    return Verdict(
        "", claims, "; ".join(filter(None, (others, noted))), links.cluster(snapshot.cluster, "checks/")
    )


def _claim(snapshot: Snapshot, finding: Finding) -> tuple[str, str, int]:
    since = first_seen(finding, snapshot.alarms.standing.get(finding.check))
    return finding.sentence, links.finding(snapshot.cluster, finding), since


def _controller(snapshot: Snapshot) -> Cell:
    seen = snapshot.state.controller
    if not snapshot.state.loaded:
        return cells.unknown(_NOT_LOADED)
    if seen is None:
        return cells.absent("no /controller in ZooKeeper")
    if not isinstance(seen.value, Controller):
        return cells.unparsable(seen.value)
    return cells.Id(seen.value.broker_id)


def _since(snapshot: Snapshot) -> Cell:
    seen = snapshot.state.controller
    if not snapshot.state.loaded:
        return cells.unknown(_NOT_LOADED)
    if seen is None or seen.znode is None:
        return cells.absent("no /controller in ZooKeeper")
    return cells.Moment(seen.znode.ctime)


def _count(snapshot: Snapshot, number: int, alert: Severity | None = None) -> Cell:
    return cells.Number(number, alert=alert) if snapshot.state.loaded else cells.unknown(_NOT_LOADED)


def _actions(snapshot: Snapshot) -> Cell:
    if not snapshot.queue.read:
        return cells.unknown(snapshot.queue.trouble or "zkdash’s database was not read yet")
    return cells.Number(len(snapshot.queue.in_flight), href=links.cluster(snapshot.cluster, "actions/"))


def _data(snapshot: Snapshot) -> Cell:
    """Until when the data is true: its age is only interesting once it stopped following ZooKeeper."""
    if snapshot.as_of is None:
        return cells.unknown(snapshot.session.sentence or _NOT_LOADED)
    return cells.Moment(int(snapshot.as_of * 1000)) if snapshot.stale else cells.Text("live")


COLUMNS: tuple[Column[Snapshot], ...] = (
    Column("status", "Status", lambda snapshot: cells.Status(*_status(snapshot))),
    Column(
        "cluster", "Cluster", lambda snapshot: cells.Name(snapshot.cluster, links.cluster(snapshot.cluster))
    ),
    Column("verdict", "Verdict", _verdict),
    Column("controller", "Controller", _controller, is_number=True),
    Column("controller_since", "Since", _since),
    Column(
        "brokers", "Brokers", lambda snapshot: _count(snapshot, len(snapshot.state.brokers)), is_number=True
    ),
    Column(
        "topics", "Topics", lambda snapshot: _count(snapshot, snapshot.state.counts.topics), is_number=True
    ),
    Column(
        "offline",
        "Offline",
        lambda snapshot: _count(snapshot, snapshot.state.counts.offline, Severity.CRITICAL),
        is_number=True,
    ),
    Column(
        "under_replicated",
        "Under-replicated",
        lambda snapshot: _count(snapshot, snapshot.state.counts.under_replicated, Severity.WARNING),
        is_number=True,
    ),
    Column(
        "unowned",
        "Unowned",
        lambda snapshot: _count(snapshot, snapshot.state.counts.unowned, Severity.CRITICAL),
        is_number=True,
    ),
    Column("actions", "Actions", _actions, is_number=True, title="that wait or are at work"),
    Column("data", "Data", _data),
    # To the eye it is told in the side bar of the cluster's own pages.
    Column("address", "ZooKeeper", lambda snapshot: cells.Text(snapshot.address), is_shown=False),
)

SHAPE: Final = shapes.Shape((COLUMNS,))
