"""ZooKeeper: every server of the ensemble with what it tells of itself, what is wrong with that, quotas."""

from __future__ import annotations

from typing import Final

import msgspec

from zkdash import live
from zkdash.cluster.ensemble.values import Ensemble
from zkdash.cluster.model.tone import Tone
from zkdash.formats.ensemble.values import Footprint, Look, Member, Quota
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, shapes, tables
from zkdash.web.frame.cells import Record
from zkdash.web.frame.facts import Fact, Facts, moment, path, status_line, words
from zkdash.web.frame.page import Page, View, without_query
from zkdash.web.frame.tables import Empty
from zkdash.web.zookeeper import cells as ensemble_cells
from zkdash.zk.connection.session import Session

NAME = "zookeeper"
_HOW = "by the mirror of this process, between the last two times that the servers were asked"
_NOT_YET = "The servers have not been asked yet."


def look(snapshot: Snapshot, _key: PageKey) -> View:
    ensemble = snapshot.ensemble
    rows = ensemble_cells.rows(ensemble)
    servers = tables.part(
        "servers-rows",
        ensemble_cells.SERVERS,
        ((links.element_id("server", row.server.address), row.tone, row) for row in rows),
        Empty(_NOT_YET),
    )
    quotas = tables.part(
        "quotas-rows",
        ensemble_cells.QUOTAS,
        ((links.element_id("quota", one.path), Tone.OK, one) for one in ensemble.look.quotas),
        Empty(_NOT_YET if ensemble.look.at is None else "No quota binds what this cluster writes."),
    )
    return View(
        title="ZooKeeper",
        parts=(
            Block(id="facts", template="frame/facts.html", values=_facts(snapshot)),
            Block(id="ailments", template="zookeeper/ailments.html", values=_sentences(ensemble)),
            servers,
            quotas,
        ),
        context={
            "headings": tables.headings(ensemble_cells.SERVERS, ""),
            "quota_headings": tables.headings(ensemble_cells.QUOTAS, ""),
        },
        fields=tables.fields(ensemble_cells.SERVERS),
        records=lambda: tables.records(ensemble_cells.SERVERS, rows),
        total=len(rows),
        extra=_extra(snapshot),
    )


def keep_alive(key: PageKey) -> None:
    """Have the servers asked more often as long as somebody looks."""
    live.want_ensemble(str(key.cluster))


def _sentences(ensemble: Ensemble) -> tuple[tuple[Tone, str], ...]:
    if ensemble.look.at is None:
        return ((Tone.UNKNOWN, _NOT_YET),)
    if not ensemble.ailments:
        return ((Tone.OK, "Nothing that the servers tell is out of order."),)
    return tuple((one.tone, one.sentence) for one in ensemble.ailments)


def _facts(snapshot: Snapshot) -> Facts:
    ensemble, session = snapshot.ensemble, snapshot.session
    known = ensemble.look
    tone = Tone.UNKNOWN if known.at is None else Tone.OK
    worst = min((one.tone for one in ensemble.ailments), key=lambda one: one.rank, default=tone)
    facts = [
        status_line(worst, ensemble_cells.modes(known) or _NOT_YET.lower().rstrip(".")),
        Fact("Address", path(snapshot.address)),
        *_membership(known),
    ]
    if known.at is not None:
        facts.append(Fact("Servers asked", moment(int(known.at * 1000))))
    if session.server is not None:
        facts.append(Fact("zkdash reads from", words(session.server)))
    facts += _footprint(session, known.footprint)
    return Facts(
        name=f"ZooKeeper of {snapshot.cluster}",
        facts=tuple(facts),
    )


def _membership(known: Look) -> tuple[Fact, ...]:
    if known.membership is None:
        why = "unknown: /zookeeper/config (3.5 and later) does not tell them to this session"
        return (Fact("Members", words(why)),) if known.at is not None else ()
    voters = known.membership.voters
    observers = len(known.membership.members) - voters
    told = f"{voters} that vote" + (f", {observers} that observe" if observers else "")
    facts = [Fact("Members", words(told), how="by /zookeeper/config")]
    if known.membership.unread:
        lines = f"{known.membership.unread} lines of /zookeeper/config cannot be understood"
        facts.append(Fact("Unread", words(lines, tone=Tone.WARNING)))
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
            {"id": one.id, "status": one.tone.value, "sentence": one.sentence, "server": one.server or None}
            for one in ensemble.ailments
        ],
        "members": None
        if membership is None
        else [msgspec.structs.asdict(one) for one in membership.members],
        "quotas": [msgspec.structs.asdict(one) for one in ensemble.look.quotas],
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
    label="ZooKeeper",
    keep_alive=keep_alive,
)
