"""What if a broker stops, or several, or a rack: computed when it is asked for, and not live."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import urlencode

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.analysis import failure
from zkdash.cluster.analysis.failure import Failure, Fate, Loss
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.brokers import rows as broker_rows
from zkdash.kafka import paths
from zkdash.kafka.values import Broker
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.brokers import failure_facts, share
from zkdash.web.brokers.failure_facts import FailureFacts
from zkdash.web.drawing import bars
from zkdash.web.frame import cells, links, listing, shapes, tables
from zkdash.web.frame.cells import Cell, broker_cells
from zkdash.web.frame.markup import format_html
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.parameters import Parameters
from zkdash.web.frame.tables import Column, Empty

NAME: Final = "failure"
MOST: Final = 500  # partitions a page, worst first; the counts are of all
_LONGEST = 300
_PARAMETERS = Parameters(frozenset({"brokers", "rack", "page"}), longest=_LONGEST, most=20)
_MOST_STRANGE = 20
_MOST_BROKERS = 1000
_HARM = {Fate.OFFLINE, Fate.UNCLEAN, Fate.BELOW_MIN}


class MinIsr(Cell, frozen=True):
    """min.insync.replicas, and whether it is but assumed."""

    number: int
    is_assumed: bool

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        why = "it stands nowhere in ZooKeeper"
        if self.is_assumed:
            return format_html('<td class="num missing" title="{}">{}, assumed</td>', why, self.number)
        return format_html('<td class="num">{}</td>', self.number)


class Leaders(Cell, frozen=True):
    """How many partitions a broker leads, and a bar on the scale of both columns, which ends at `most`."""

    number: int
    most: int

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        bar = bars.in_cell(self.number, self.most, "")
        kind = "num" if self.number else "num zero"
        return format_html('<td class="{}">{}{}</td>', kind, cells.number_html(self.number), bar)


Entry = tuple[str, Loss]  # the cluster's name, and the partition


class Leads(NamedTuple):
    """What one broker leads now and then, of which `most` is the highest of any."""

    cluster: str
    broker: int
    now: int
    then: int
    most: int


class Asked(msgspec.Struct, frozen=True):
    """What else stops, beside the broker of the page; and which page of the losses is seen."""

    brokers: tuple[int, ...] = ()
    rack: str = ""
    page: int = 1


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """What would happen, as of the newest revision."""
    (name,) = key.args
    question, _ = _read(key.query)
    more, rack = question.brokers, question.rack
    state = snapshot.state
    number = int(name) if paths.is_id(name) else -1
    gone = "" if number in broker_rows.ids(state) else f"No broker {name} is known to ZooKeeper."
    if not state.loaded:
        gone = "Brokers are not known before the first load from ZooKeeper."
    stopped = {number, *more} | (failure.in_rack(state, rack) if rack else set())
    groups = snapshot.samples.groups().union(state.groups)
    outcome = failure.of(state, () if gone else stopped, groups=groups, most=question.page * MOST)
    cut = listing.cut(outcome.affected, question.page, MOST)
    losses = outcome.losses[cut.place]
    entries = [(snapshot.cluster, loss) for loss in losses]
    most = max((count for counts in outcome.leaders.values() for count in counts), default=0)
    leads = [Leads(snapshot.cluster, broker, *counts, most) for broker, counts in outcome.leaders.items()]
    facts = _facts(snapshot, outcome, name, gone)
    return View(
        title=f"What if {facts.name} {'stops' if len(stopped) == 1 else 'stop'}",
        parts=(
            Block(id="failure", template="brokers/failure_facts.html", values=facts),
            tables.part(
                "leads-rows",
                LEADS,
                ((f"leads-{lead.broker}", Severity.OK, lead) for lead in leads),
                Empty("No broker is registered."),
            ),
            tables.part(
                "losses-rows",
                COLUMNS,
                ((_element_id(entry), _severity(entry[1].fate), entry) for entry in entries),
                Empty("No partition loses anything."),
            ),
            share.block(snapshot, frozenset() if gone else frozenset(stopped)),
            listing.pager(
                cut.at, cut.pages, lambda at: "?" + _write(msgspec.structs.replace(question, page=at))
            ),
        ),
        context={
            "asked": {"brokers": ",".join(map(str, more)), "rack": rack},
            "racks": _racks(snapshot),
            "lead_headings": tables.headings(LEADS, ""),
            "headings": tables.headings(COLUMNS, ""),
            "affected": outcome.affected,
            "shown": len(losses),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, entries),
        total=outcome.affected,
        extra=lambda: {
            "answer": facts.answer,
            "failure": failure_facts.record(outcome),
            "leaders": list(tables.records(LEADS, leads)),
        },
        gone=gone if state.loaded else "",
    )


def look(_snapshot: Snapshot, _key: PageKey) -> View:
    """Nothing of it is live: it would be computed anew at every change of any partition."""
    return View(title="What if", parts=())


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """What else stops, and a sentence about each thing that was not understood."""
    question, notes = _read(raw)
    return _write(question), notes


def _write(question: Asked) -> str:
    pairs = [("brokers", ",".join(map(str, question.brokers)))] if question.brokers else []
    pairs += [("rack", question.rack)] if question.rack else []
    pairs += [("page", str(question.page))] if question.page > 1 else []
    return urlencode(pairs, errors="surrogatepass")


def _read(raw: str) -> tuple[Asked, tuple[str, ...]]:
    """What is asked for, and a sentence about each thing that was not understood."""
    given = _PARAMETERS.read(raw)
    notes = given.notes
    words = ",".join(given.all_as_written("brokers")).replace(" ", ",").split(",")
    strange = [word for word in words if word and not paths.is_id(word)]
    notes += (f"“{word[:_LONGEST]}” is not a broker’s id." for word in strange[:_MOST_STRANGE])
    ids = sorted({int(word) for word in words if paths.is_id(word)})
    if len(ids) > _MOST_BROKERS:
        notes.append(f"Only the first {_MOST_BROKERS} of {len(ids)} brokers are looked at.")
    number = listing.page_number(given.last_as_written("page", "1"), notes)
    return Asked(tuple(ids[:_MOST_BROKERS]), given.last_as_written("rack"), number), tuple(notes)


def _facts(snapshot: Snapshot, outcome: Failure, name: str, gone: str) -> FailureFacts:
    href = links.broker(snapshot.cluster, int(name)) if paths.is_id(name) else ""
    if gone:
        return FailureFacts(f"broker {name}", href, gone)
    ids = sorted(outcome.stopped)
    named = f"broker {ids[0]}" if len(ids) == 1 else f"brokers {', '.join(map(str, ids))}"
    return failure_facts.of(snapshot, outcome, named, href)


def _racks(snapshot: Snapshot) -> list[str]:
    values = (seen.value for seen in snapshot.state.brokers.values())
    return sorted({value.rack for value in values if isinstance(value, Broker) and value.rack})


def _severity(fate: Fate) -> Severity:
    return Severity.CRITICAL if fate in _HARM else Severity.INFO


def _element_id(entry: Entry) -> str:
    return links.element_id("loss", f"{entry[1].topic} {entry[1].partition}")


def _leader(cluster: str, number: int | None) -> Cell:
    if number is None:
        return broker_cells.NoLeader()
    return cells.Id(number, href=links.broker(cluster, number))


def _out(before: Iterable[int], after: Iterable[int]) -> tuple[int, ...]:
    kept = set(after)
    return tuple(broker for broker in before if broker not in kept)


COLUMNS: tuple[Column[Entry], ...] = (
    Column("topic", "Topic", lambda entry: cells.Name(entry[1].topic, links.topic(entry[0], entry[1].topic))),
    Column("partition", "Partition", lambda entry: cells.Id(entry[1].partition), is_number=True),
    Column("fate", "Then", lambda entry: cells.Word(entry[1].fate.value, _severity(entry[1].fate))),
    Column("leader", "Leader", lambda entry: _leader(entry[0], entry[1].leader), is_number=True),
    Column(
        "leader_after", "Leader then", lambda entry: _leader(entry[0], entry[1].leader_after), is_number=True
    ),
    Column(
        "isr_after",
        "ISR then",
        lambda entry: broker_cells.InSync(entry[1].isr_after, _out(entry[1].isr, entry[1].isr_after)),
        title="replicas in sync then, and those that are in sync now",
    ),
    Column(
        "min_isr",
        "Min ISR",
        lambda entry: MinIsr(entry[1].min_isr, entry[1].is_assumed),
        is_number=True,
        title="min.insync.replicas",
    ),
)
LEADS: tuple[Column[Leads], ...] = (
    Column(
        "broker",
        "Broker",
        lambda lead: broker_cells.Broker(lead.broker, links.broker(lead.cluster, lead.broker)),
        is_number=True,
    ),
    Column("leaders", "Leaders now", lambda lead: Leaders(lead.now, lead.most), is_number=True),
    Column("leaders_after", "Then", lambda lead: Leaders(lead.then, lead.most), is_number=True),
)

PAGE = Page(
    name=NAME,
    route="brokers/<name:broker>/what-if/",
    template="brokers/failure.html",
    look=look,
    canonical=canonical,
    shape=shapes.Shape(
        (COLUMNS,),
        {"answer": shapes.TEXT, "failure": failure_facts.RECORD, "leaders": shapes.many(shapes.row(LEADS))},
        parameters={"brokers": shapes.TEXT, "rack": shapes.TEXT, "page": shapes.PAGE},
    ),
    whole=whole,
)
