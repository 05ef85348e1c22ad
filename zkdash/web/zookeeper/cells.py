"""The columns of the ZooKeeper page: servers, with what each told, and quotas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.ensemble.values import Ailment, Ensemble
from zkdash.cluster.model.severity import Severity
from zkdash.formats.ensemble.values import Look, Quota, Reach, Server, Told
from zkdash.web.frame import cells
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.markup import format_html
from zkdash.web.frame.tables import Column

_COUNTER = (1 << 32) - 1
_SEVERITIES = {
    Reach.SERVING: Severity.OK,
    Reach.NOT_SERVING: Severity.WARNING,
    Reach.NOT_ALLOWED: Severity.INFO,
    Reach.DOWN: Severity.CRITICAL,
    Reach.STRANGE: Severity.WARNING,
    Reach.UNASKED: Severity.UNKNOWN,
}
_LEADERS_OWN = frozenset({"learners", "synced_followers", "pending_syncs"})


class Row(msgspec.Struct, frozen=True):
    """One server, the newest zxid that any told in the same round, and the worst that is said of it."""

    server: Server
    newest: int | None
    severity: Severity


class Decimal(Cell, frozen=True):
    """A number that may have decimals."""

    number: float

    @property
    def plain(self) -> float:
        return self.number

    def html(self) -> SafeString:
        return format_html('<td class="num">{}</td>', f"{self.number:.4g}")


class Zxid(cells.Zxid, frozen=True):
    """Also in JSON and CSV as ZooKeeper's four-letter words tell it."""

    @property
    def plain(self) -> str:
        return f"{self.number:#x}"


def rows(ensemble: Ensemble) -> tuple[Row, ...]:
    """The servers in the order in which they were asked."""
    zxids = [server.told.zxid for server in ensemble.look.servers if server.told.zxid is not None]
    newest = max(zxids, default=None)
    return tuple(
        Row(server, newest, _severity(server, ensemble.ailments)) for server in ensemble.look.servers
    )


def _severity(server: Server, ailments: tuple[Ailment, ...]) -> Severity:
    said = (ailment.severity for ailment in ailments if ailment.server == server.address)
    return min((*said, _SEVERITIES[server.reach]), key=lambda severity: severity.rank)


def _why(server: Server, name: str) -> str:
    """Why a server told no such number."""
    match server.reach:
        case Reach.DOWN:
            return server.reason
        case Reach.NOT_SERVING:
            return "it serves nobody"
        case Reach.STRANGE:
            return "it does not answer as ZooKeeper does"
        case Reach.UNASKED:
            return "no address of it for clients is known"
    if server.refused:
        return f"it does not allow {' and '.join(server.refused)}"
    return f"its version does not tell {name.replace('_', ' ')}"


def _told(name: str, cell: Callable[[Told], Cell]) -> Callable[[Row], Cell]:
    """The cell of one number of the server's own, or why there is none."""

    def one(row: Row) -> Cell:
        answer = row.server.told
        if getattr(answer, name) is not None:
            return cell(answer)
        if name in _LEADERS_OWN and answer.mode not in {None, "leader"}:
            return cells.absent("only a leader has it")
        return cells.unknown(_why(row.server, name))

    return one


def _count(name: str, alert: Severity | None = None) -> Callable[[Row], Cell]:
    return _told(name, lambda answer: cells.Number(getattr(answer, name), alert))


def _decimal(name: str) -> Callable[[Row], Cell]:
    return _told(name, lambda answer: Decimal(getattr(answer, name)))


def _zxid(name: str) -> Callable[[Row], Cell]:
    return _told(name, lambda answer: Zxid(getattr(answer, name)))


def _text(name: str) -> Callable[[Row], Cell]:
    return _told(name, lambda answer: cells.Text(getattr(answer, name)))


def behind(row: Row) -> Cell:
    """How many transactions a server lacks of the newest that any told."""
    zxid, newest = row.server.told.zxid, row.newest
    if zxid is None or newest is None:
        return cells.unknown(_why(row.server, "zxid"))
    if zxid >> 32 != newest >> 32:
        return cells.unknown("its last transaction is of another leader's time")
    return cells.Number((newest & _COUNTER) - (zxid & _COUNTER))


def _named(server: Server) -> str:
    number = f"server.{server.myid}" if server.myid is not None else ""
    vote = "" if server.is_voter is None else "votes" if server.is_voter else "observes"
    where = "" if server.is_configured else "not in the address"
    return ", ".join(word for word in (number, vote, where) if word)


def _member(row: Row) -> Cell:
    words = _named(row.server)
    return cells.Text(words) if words else cells.unknown("/zookeeper/config does not tell")


SERVERS: tuple[Column[Row], ...] = (
    Column("status", "Status", lambda row: cells.Status(row.severity, row.server.reach.value)),
    Column("server", "Server", lambda row: cells.RowName(row.server.address)),
    Column("mode", "Mode", _text("mode")),
    Column("version", "Version", _text("version")),
    Column("learners", "Followers", _count("learners"), is_number=True, title="with observers"),
    Column("synced_followers", "In sync", _count("synced_followers"), is_number=True),
    Column("pending_syncs", "Pending syncs", _count("pending_syncs", Severity.WARNING), is_number=True),
    Column("latency_min", "Min ms", _decimal("latency_min"), is_number=True, title="since its start"),
    Column("latency_avg", "Avg ms", _decimal("latency_avg"), is_number=True, title="since its start"),
    Column("latency_max", "Max ms", _decimal("latency_max"), is_number=True, title="since its start"),
    Column("connections", "Connections", _count("connections"), is_number=True),
    Column("outstanding", "Outstanding", _count("outstanding"), is_number=True, title="requests that wait"),
    Column("zxid", "Zxid", _zxid("zxid"), is_number=True),
    Column("behind", "Behind", behind, is_number=True, title="transactions, against the newest of all"),
    Column("znodes", "Znodes", _count("znodes"), is_number=True),
    Column("watches", "Watches", _count("watches"), is_number=True),
    Column("data_size", "Data bytes", _count("data_size"), is_number=True),
    Column("descriptors", "Descriptors", _count("descriptors"), is_number=True, title="files and sockets"),
    Column("max_descriptors", "of at most", _count("max_descriptors"), is_number=True),
    Column("ephemerals", "Ephemerals", _count("ephemerals"), is_number=True),
    Column("member", "Member", _member, title="as /zookeeper/config has it"),
)

_KEEPS: Final = ("znodes", "ephemerals", "data_size", "watches", "descriptors", "max_descriptors")
# Two tables of the same servers, so that each fits on a screen: how they work, and what they keep.
WORK: Final = tuple(column for column in SERVERS if column.name not in _KEEPS)
KEPT: Final = tuple(column for column in SERVERS if column.name in {"server", *_KEEPS})


def _limit(name: str) -> Callable[[Quota], Cell]:
    return lambda quota: cells.known(getattr(quota, name), cells.Number, "there is no such limit")


def _used(quota: Quota, name: str) -> Cell:
    number = getattr(quota, name)
    limits = (quota.znodes, quota.hard_znodes) if name == "used_znodes" else (quota.bytes, quota.hard_bytes)
    if number is None:
        return cells.unknown("zookeeper_stats does not tell")
    over = any(limit is not None and number > limit for limit in limits)
    return cells.Number(number, Severity.WARNING if over else None)


QUOTAS: tuple[Column[Quota], ...] = (
    Column("path", "Path", lambda quota: cells.Path(quota.path, is_head=True)),
    Column("used_znodes", "Znodes", lambda quota: _used(quota, "used_znodes"), is_number=True),
    Column("znodes", "Soft limit", _limit("znodes"), is_number=True, title="only logged"),
    Column("hard_znodes", "Hard limit", _limit("hard_znodes"), is_number=True, title="enforced"),
    Column("used_bytes", "Bytes", lambda quota: _used(quota, "used_bytes"), is_number=True),
    Column("bytes", "Soft limit", _limit("bytes"), is_number=True, title="only logged"),
    Column("hard_bytes", "Hard limit", _limit("hard_bytes"), is_number=True, title="enforced"),
)


def modes(look: Look) -> str:
    """How many servers are what: "1 leader, 2 followers, 1 down"."""
    counts: dict[str, int] = {}
    for server in look.servers:
        mode = server.told.mode if server.told.mode is not None else server.reach.value
        counts[mode] = counts.get(mode, 0) + 1
    plural = {"leader": "leaders", "follower": "followers", "observer": "observers"}
    return ", ".join(
        f"{count} {mode if count == 1 else plural.get(mode, mode)}" for mode, count in counts.items()
    )
