"""ZooKeeper: every server of the ensemble with what it tells of itself, what is wrong with that, quotas."""

from __future__ import annotations

from typing import Final

import msgspec

from zkdash import live
from zkdash.cluster.model.severity import Severity
from zkdash.formats.ensemble.values import Footprint, Look, Member, Quota
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, shapes, tables
from zkdash.web.frame.cells import Record
from zkdash.web.frame.facts import Fact, Facts, moment, path, status_line, words
from zkdash.web.frame.page import Page, View, without_query
from zkdash.web.frame.tables import Empty
from zkdash.web.zookeeper import cells as ensemble_cells
from zkdash.web.zookeeper import ensemble_map
from zkdash.zk.connection.session import Session

NAME = "zookeeper"
_HOW = "by the mirror of this process, between the last two times that the servers were asked"
_NOT_YET = "The servers have not been asked yet."
_NOT_THEN = "What the servers told then is not known: they tell of now alone."


def look(snapshot: Snapshot, _key: PageKey) -> View:
    ensemble = snapshot.ensemble
    rows = ensemble_cells.rows(ensemble)
    servers = tables.part(
        "servers-rows",
        ensemble_cells.WORK,
        ((links.element_id("server", row.server.address), row.severity, row) for row in rows),
        Empty(_unasked(snapshot)),
    )
    kept = tables.part(
        "kept-rows",
        ensemble_cells.KEPT,
        ((links.element_id("kept", row.server.address), Severity.OK, row) for row in rows),
        Empty(_unasked(snapshot)),
    )
    quotas = tables.part(
        "quotas-rows",
        ensemble_cells.QUOTAS,
        ((links.element_id("quota", quota.path), Severity.OK, quota) for quota in ensemble.look.quotas),
        Empty(_unasked(snapshot) if ensemble.look.at is None else "No quota binds what this cluster writes."),
    )
    return View(
        title="ZooKeeper",
        parts=(
            Block(id="facts", template="frame/facts.html", values=_facts(snapshot)),
            Block(id="ailments", template="zookeeper/ailments.html", values=_sentences(snapshot)),
            ensemble_map.block(rows, snapshot.recent),
            servers,
            kept,
            quotas,
        ),
        context={
            "headings": tables.headings(ensemble_cells.WORK, ""),
            "kept_headings": tables.headings(ensemble_cells.KEPT, ""),
            "quota_headings": tables.headings(ensemble_cells.QUOTAS, ""),
        },
        fields=tables.fields(ensemble_cells.SERVERS),
        records=lambda: tables.records(ensemble_cells.SERVERS, rows),
        total=len(rows),
        extra=lambda: _extra(snapshot),
    )


def keep_alive(key: PageKey) -> None:
    """Have the servers asked more often as long as somebody looks."""
    live.want_ensemble(str(key.cluster))


def _unasked(snapshot: Snapshot) -> str:
    return _NOT_YET if snapshot.past is None else _NOT_THEN


def _sentences(snapshot: Snapshot) -> tuple[tuple[Severity, str], ...]:
    ensemble = snapshot.ensemble
    if ensemble.look.at is None:
        return ((Severity.UNKNOWN, _unasked(snapshot)),)
    if not ensemble.ailments:
        return ((Severity.OK, "Nothing that the servers tell is out of order."),)
    return tuple((ailment.severity, ailment.sentence) for ailment in ensemble.ailments)


def _facts(snapshot: Snapshot) -> Facts:
    ensemble, session = snapshot.ensemble, snapshot.session
    look = ensemble.look
    severity = Severity.UNKNOWN if look.at is None else Severity.OK
    worst = min(
        (ailment.severity for ailment in ensemble.ailments),
        key=lambda ailment_severity: ailment_severity.rank,
        default=severity,
    )
    facts = [
        status_line(worst, ensemble_cells.modes(look) or _unasked(snapshot).lower().rstrip(".")),
        Fact("Address", path(snapshot.address)),
        *_membership(look),
    ]
    if look.at is not None:
        facts.append(Fact("Servers asked", moment(int(look.at * 1000))))
    if session.server is not None:
        facts.append(Fact("zkdash reads from", words(session.server)))
    if snapshot.past is None:
        facts += _footprint(session, look.footprint)
    return Facts(
        name=f"ZooKeeper of {snapshot.cluster}",
        facts=tuple(facts),
    )


def _membership(look: Look) -> tuple[Fact, ...]:
    if look.membership is None:
        why = "unknown: /zookeeper/config (3.5 and later) does not tell them to this session"
        return (Fact("Members", words(why)),) if look.at is not None else ()
    voters = look.membership.voters
    observers = len(look.membership.members) - voters
    counted = f"{voters} that vote" + (f", {observers} that observe" if observers else "")
    facts = [Fact("Members", words(counted), how="by /zookeeper/config")]
    if look.membership.unread:
        lines = f"{look.membership.unread} lines of /zookeeper/config cannot be understood"
        facts.append(Fact("Unread", words(lines, severity=Severity.WARNING)))
    return tuple(facts)


def _footprint(session: Session, footprint: Footprint) -> tuple[Fact, ...]:
    """What this process costs the ensemble."""
    watches = f"{cells.grouped(session.watches)}, about {cells.grouped(session.watched_bytes)} bytes of heap"
    rates = (
        ("zkdash asks", footprint.requests, "requests a second"),
        ("zkdash is told", footprint.events, "watch events a second"),
        ("zkdash receives", footprint.received, "bytes a second"),
    )
    return (
        Fact("zkdash watches", words(watches), how="what that server keeps for this process"),
        *(
            Fact(label, words("not known yet" if rate is None else f"{_rate(rate)} {unit}"), how=_HOW)
            for label, rate, unit in rates
        ),
    )


def _rate(number: float) -> str:
    return cells.grouped(round(number)) if number >= 100 else f"{number:.2f}"


def _extra(snapshot: Snapshot) -> dict[str, cells.Plain | Record | list[Record]]:
    ensemble, session = snapshot.ensemble, snapshot.session
    membership = ensemble.look.membership
    return {
        "asked": cells.Moment(int(ensemble.look.at * 1000)).plain if ensemble.look.at is not None else None,
        "ailments": [
            {
                "id": ailment.id,
                "status": ailment.severity.value,
                "sentence": ailment.sentence,
                "server": ailment.server or None,
            }
            for ailment in ensemble.ailments
        ],
        "members": None
        if membership is None
        else [msgspec.structs.asdict(member) for member in membership.members],
        "quotas": [msgspec.structs.asdict(quota) for quota in ensemble.look.quotas],
        "footprint": {
            "watches": session.watches,
            "watched_bytes": session.watched_bytes,
            **msgspec.structs.asdict(ensemble.look.footprint),
        },
    }


FOOTPRINT: Final = shapes.fields(
    watches=shapes.INTEGER_OR_NULL,
    watched_bytes=shapes.INTEGER_OR_NULL,
    **shapes.struct(Footprint)["properties"],
)
AILMENTS: Final = shapes.many(
    shapes.fields(id=shapes.TEXT, status=shapes.TEXT, sentence=shapes.TEXT, server=shapes.TEXT_OR_NULL)
)


PAGE = Page(
    name=NAME,
    route="zookeeper/",
    template="zookeeper/zookeeper.html",
    look=look,
    areas=frozenset({"ensemble"}),
    canonical=without_query,
    shape=shapes.Shape(
        (ensemble_cells.SERVERS,),
        {
            "asked": shapes.TEXT_OR_NULL,
            "ailments": AILMENTS,
            "members": shapes.or_null(shapes.many(shapes.struct(Member))),
            "quotas": shapes.many(shapes.struct(Quota)),
            "footprint": FOOTPRINT,
        },
        frozenset({"members"}),
    ),
    section="ZooKeeper",
    label="Ensemble",
    keep_alive=keep_alive,
)
