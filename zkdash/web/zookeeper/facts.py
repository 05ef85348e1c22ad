"""What the browser says of one znode: its value in every reading, its Stat, its ACL, its owner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from zkdash import live
from zkdash.kafka import paths, secrets, znode_kinds
from zkdash.kafka.values import Unparsable
from zkdash.kafka.znode_kinds import Kind, Place
from zkdash.live.snapshot import Snapshot
from zkdash.live.tree.znodes import Seen, is_mirrored
from zkdash.web.frame import links, shapes, times
from zkdash.web.frame.cells import Record, texts
from zkdash.web.zookeeper import text
from zkdash.znode import Acl, Stat, Unreadable, Znode

_PERMS = ((1, "read"), (2, "write"), (4, "create"), (8, "delete"), (16, "admin"))

_WORDS: Final[dict[Kind, str]] = {
    Kind.BROKER: "registration of a broker",
    Kind.TOPIC: "assignment of a topic",
    Kind.PARTITIONS: "partitions of a topic",
    Kind.STATE: "partition state",
    Kind.MEMBER: "registration of a consumer",
    Kind.OWNER: "owner of a partition",
    Kind.OFFSET: "committed offset",
    Kind.TOPIC_CONFIG: "config of a topic",
    Kind.MISNAMED: "",
    Kind.OTHER: "",
}
_TOPICS = frozenset(
    {
        Kind.TOPIC,
        Kind.PARTITION_COUNT,
        Kind.PARTITIONS,
        Kind.PARTITION,
        Kind.STATE,
        Kind.TOPIC_CONFIG,
        Kind.DELETION,
    }
)
_GROUPS = frozenset({Kind.GROUP, Kind.MEMBER, Kind.OWNER, Kind.OFFSET})
_CLUSTERS = frozenset({Kind.CONTROLLER, Kind.CONTROLLER_EPOCH, Kind.CLUSTER_ID})

# What each field of a Stat means (org.apache.zookeeper.data.Stat).
_STAT: Final = (
    ("czxid", "the transaction that created it"),
    ("mzxid", "the transaction that last wrote its data"),
    ("pzxid", "the transaction that last added or removed a child"),
    ("ctime", "when it was created, by the server’s clock"),
    ("mtime", "when its data was last written, by the server’s clock"),
    ("version", "how often its data was written"),
    ("cversion", "how often a child came or went"),
    ("aversion", "how often its ACL was set"),
    ("ephemeralOwner", "the session that owns it, 0 for none"),
    ("dataLength", "bytes of its data"),
    ("numChildren", "its children"),
)
_ZXIDS = frozenset({"czxid", "mzxid", "pzxid"})
_MOMENTS = frozenset({"ctime", "mtime"})


class Found(msgspec.Struct, frozen=True):
    """What is known of a znode: what the mirror holds of it or ZooKeeper told, and what it told beside.

    `gone` is the sentence where there is none.
    """

    path: str
    is_mirrored: bool
    read: Znode | Unreadable | None
    stat: Stat | None
    seen: Seen
    gone: str = ""


class Line(msgspec.Struct, frozen=True):
    """A field of the Stat, as JSON has it; `moment` is the instant that it names."""

    name: str
    title: str
    plain: str | int | None
    moment: int | None = None


class ZnodeFacts(msgspec.Struct, frozen=True):
    """What stands above the children. Texts are visible; what is "" or empty is not shown."""

    gone: str
    path: str
    crumbs: tuple[tuple[str, str], ...]
    name: str
    kind: str = ""
    owner: str = ""
    owner_href: str = ""
    read_as: str = ""
    read_as_href: str = ""
    value: text.Value = text.Value()
    whole: str = ""
    is_secret: bool = False
    decoded: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    reasons: tuple[str, ...] = ()
    stat: tuple[Line, ...] = ()
    acl: tuple[tuple[str, str], ...] = ()
    acl_doubt: str = ""
    trouble: str = ""


def find(snapshot: Snapshot, path: str, *, asks: bool) -> Found:
    """What is known of a znode. Where `asks`, ZooKeeper is asked for what is not mirrored, which blocks."""
    znodes = live.znodes_of(snapshot.cluster)
    here = is_mirrored(path) and snapshot.state.loaded
    if znodes is None:
        return Found(path, here, None, None, Seen(trouble="No watcher of this process knows its znodes."))
    read = znodes.held(path) if here else None
    if here and read is None:
        return Found(path, here, None, None, Seen(), gone="No such znode is in ZooKeeper.")
    seen = znodes.visit(path, whole=not here) if asks else znodes.seen(path)
    visit = seen.visit
    stat = None if visit is None else visit.stat
    if here:
        return Found(path, here, read, _stat(read, stat, len(znodes.folder(path))), seen)
    gone = "" if visit is None or visit.is_there else "No such znode is in ZooKeeper."
    return Found(path, here, None if visit is None else visit.data, stat, seen, gone)


def _stat(read: Znode | Unreadable | None, visited: Stat | None, children: int) -> Stat | None:
    """The Stat; the mirror does not read a znode again when its children come and go, so they are counted."""
    if not isinstance(read, Znode):
        return visited
    stat = read.stat
    if visited is not None and visited.czxid == stat.czxid and visited.cversion >= stat.cversion:
        stat = stat._replace(cversion=visited.cversion, aversion=visited.aversion, pzxid=visited.pzxid)
    return stat._replace(num_children=children)


def kind(name: str, owner: int) -> str:
    """How ZooKeeper keeps it, as far as it tells: that it was made as a sequential znode only its name does.

    Of containers and of what has a TTL clients see no owner (org.apache.zookeeper.server.DataNode.copyStat).
    """
    digits = name[-10:]
    is_sequential = len(digits) == 10 and digits.isascii() and digits.isdigit()
    return ("ephemeral" if owner else "persistent") + (" sequential" if is_sequential else "")


def facts(snapshot: Snapshot, znode: Found) -> ZnodeFacts:
    """What the page says."""
    path, crumbs = znode.path, _crumbs(snapshot.cluster, znode.path)
    name = text.name(path.rpartition("/")[2]) or "/"
    if znode.gone:
        return ZnodeFacts(gone=znode.gone, path=path, crumbs=crumbs, name=name)
    stat, place = znode.stat, paths.locate(path)
    data = znode.read.data if isinstance(znode.read, Znode) else None
    typed, reasons = znode_kinds.parse(place, data) if isinstance(znode.read, Znode) else (None, ())
    problem = snapshot.state.problems.get(path) if znode.is_mirrored else None
    session = stat.ephemeral_owner if stat else 0
    value = text.value(znode.read, znode.seen.trouble or "Not read yet.")
    visit = znode.seen.visit
    acl = visit.acl if visit is not None else ()
    return ZnodeFacts(
        gone="",
        path=path,
        crumbs=crumbs,
        name=name,
        kind="" if stat is None else kind(path.rpartition("/")[2], stat.ephemeral_owner),
        owner=links.session_text(session) if session else "",
        owner_href=links.session(snapshot.cluster, session) if session else "",
        read_as=_words(place),
        read_as_href=_page(snapshot, place),
        value=value,
        whole=links.znode_data(snapshot.cluster, path) if value.text else "",
        is_secret=secrets.redact_anywhere(path, b"-") != b"-",
        decoded=texts.pretty(data),
        fields=() if isinstance(typed, Unparsable) else text.fields(typed),
        reasons=reasons or ((problem.reason,) if problem is not None else ()),
        stat=() if stat is None else tuple(_lines(stat)),
        acl=() if isinstance(acl, Unreadable) else tuple((_who(entry), _may(entry)) for entry in acl),
        acl_doubt=acl.reason if isinstance(acl, Unreadable) else "",
        trouble=znode.seen.trouble,
    )


RECORD: Final = shapes.fields(
    path=shapes.TEXT,
    mirrored=shapes.WHETHER,
    kind=shapes.TEXT_OR_NULL,
    owner=shapes.TEXT_OR_NULL,
    read_as=shapes.TEXT_OR_NULL,
    stat=shapes.named(shapes.NUMBER),
    data=shapes.TEXT_OR_NULL,
    data_is_hex=shapes.WHETHER,
    data_is_cut=shapes.WHETHER,
    data_href=shapes.TEXT_OR_NULL,
    fields=shapes.named(shapes.TEXT),
    reasons=shapes.TEXTS,
    acl=shapes.many(shapes.fields(who=shapes.TEXT, may=shapes.TEXT)),
    trouble=shapes.TEXT_OR_NULL,
)


def record(snapshot: Snapshot, znode: Found) -> Record:
    """The same as JSON has it."""
    shown = facts(snapshot, znode)
    if shown.gone:
        return {"path": znode.path}
    return {
        "path": znode.path,
        "mirrored": znode.is_mirrored,
        "kind": shown.kind or None,
        "owner": shown.owner or None,
        "read_as": shown.read_as or None,
        "stat": {line.name: line.plain for line in shown.stat},
        "data": shown.value.text or None,
        "data_reason": shown.value.why or None,
        "data_is_hex": shown.value.is_binary,
        "data_is_cut": shown.value.is_cut,
        "data_href": shown.whole or None,
        "fields": dict(shown.fields),
        "reasons": list(shown.reasons),
        "acl": [{"who": who, "may": may} for who, may in shown.acl],
        "acl_reason": shown.acl_doubt or shown.trouble or None,
        "trouble": shown.trouble or None,
    }


def _crumbs(cluster: str, path: str) -> tuple[tuple[str, str], ...]:
    """The znodes above it, each with its address, from the root down."""
    names = path.split("/")[1:-1]
    above = [("/", links.znode(cluster, "/"))] if path != "/" else []
    for end, name in enumerate(names, 1):
        above.append((text.name(name), links.znode(cluster, "/" + "/".join(names[:end]))))
    return tuple(above)


def _words(place: Place) -> str:
    return _WORDS.get(place.kind, place.kind.name.replace("_", " ").lower())


def _page(snapshot: Snapshot, place: Place) -> str:
    """The page that shows what stands at a place, where there is one now."""
    state, cluster = snapshot.state, snapshot.cluster
    if place.kind is Kind.BROKER and int(place.name) in state.brokers:
        return links.broker(cluster, int(place.name))
    if place.kind in _TOPICS and place.name in state.topics:
        return links.topic(cluster, place.name)
    if place.kind in _GROUPS and place.name in state.groups:
        return links.group(cluster, place.name)
    return links.cluster(cluster) if place.kind in _CLUSTERS else ""


def _ordered(stat: Stat) -> tuple[int, ...]:
    return (
        *(stat.czxid, stat.mzxid, stat.pzxid, stat.ctime, stat.mtime, stat.version, stat.cversion),
        *(stat.aversion, stat.ephemeral_owner, stat.data_length, stat.num_children),
    )


def _lines(stat: Stat) -> Iterator[Line]:
    for (name, title), number in zip(_STAT, _ordered(stat), strict=True):
        yield Line(name, title, _plain(name, number), number if name in _MOMENTS else None)


def _plain(name: str, number: int) -> str | int | None:
    if name in _ZXIDS:
        return f"{number:#x}"
    if name == "ephemeralOwner":
        return links.session_text(number)
    return times.utc_text(number) if name in _MOMENTS else number


def _who(entry: Acl) -> str:
    hidden = " (its hash is not shown)" if entry.scheme == "digest" else ""
    return texts.visible(f"{entry.scheme}: {entry.id}") + hidden


def _may(entry: Acl) -> str:
    return ", ".join(word for bit, word in _PERMS if entry.perms & bit) or "nothing"
