"""What if: a group's plan if members, threads or partitions were others, beside the plan of now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.rebalance import scenario, whatif
from zkdash.cluster.rebalance.scenario import Scenario
from zkdash.cluster.rebalance.values import Expectation
from zkdash.cluster.rebalance.whatif import Shift, WhatIf
from zkdash.kafka.assignment.rules import Rule
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, listing, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.groups import cells as group_cells
from zkdash.web.groups import expectations, what_if_query
from zkdash.web.groups import group as group_page

MOST = 500  # rows a page; JSON and CSV have all of them
_MOST_SUGGESTED = 200


class Entry(msgspec.Struct, frozen=True):
    """One partition that gets another owner."""

    cluster: str
    group: str
    shift: Shift


class Share(msgspec.Struct, frozen=True):
    """One member's partitions before and after; `fate` is "new", "removed" or ""."""

    group: str
    member: str
    before: int
    after: int
    fate: str


class Answer(msgspec.Struct, frozen=True):
    """What the page says above its tables. `gone` is the sentence where there is no such group."""

    name: str
    href: str
    gone: str = ""
    sentence: str = ""
    severity: Severity = Severity.INFO
    notes: tuple[str, ...] = ()


def look(snapshot: Snapshot, key: PageKey) -> View:
    (name,) = key.args
    group = snapshot.state.groups.get(name)
    inquiry = what_if_query.read(key.query)
    question, rule = inquiry.question, inquiry.rule
    expected = expectations.of(snapshot, group or Group(name)).expected
    what_if = _ask(expected, question, rule)
    computed = what_if if isinstance(what_if, WhatIf) else None
    entries = tuple(Entry(snapshot.cluster, name, shift) for shift in computed.shifts) if computed else ()
    answer = _answer(snapshot, group, expected, question, what_if)
    shares = _shares(name, computed, question) if computed else ()
    moved, loads = (
        listing.cut(len(entries), inquiry.page, MOST),
        listing.cut(len(shares), inquiry.members, MOST),
    )
    return View(
        title=f"What if: {name}",
        parts=(
            Block(id="answer", template="groups/what_if_answer.html", values=answer),
            tables.part(
                "shares-rows",
                SHARES,
                (
                    (links.element_id("share", share.member), Severity.OK, share)
                    for share in shares[loads.place]
                ),
                Empty("No member has or would get a partition."),
            ),
            tables.part(
                "shifts-rows",
                COLUMNS,
                (
                    (
                        links.element_id("shift", f"{entry.shift.topic}/{entry.shift.key}"),
                        _status(entry)[0],
                        entry,
                    )
                    for entry in entries[moved.place]
                ),
                Empty("No partition gets another owner."),
            ),
            listing.pager(moved.at, moved.pages, lambda at: what_if_query.address(inquiry, page=at)),
            listing.pager(
                loads.at,
                loads.pages,
                lambda at: what_if_query.address(inquiry, members=at) + "#shares",
                part="members-pager",
                what="the members",
            ),
        ),
        context=_context(expected, question, rule),
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, entries),
        total=len(entries),
        extra=lambda: {"answer": answer.sentence, "members": list(tables.records(SHARES, shares))},
        gone=answer.gone if snapshot.state.loaded else "",
    )


def _ask(expected: Expectation, question: Scenario, rule: Rule | None) -> WhatIf | str:
    """Both plans, or a sentence why they are not to be had."""
    if not expected.plans:
        why = (*expected.inputs.blocked, *expected.inputs.unclear)
        return f"What the group asks for cannot be told: {why[0]}." if why else "There is no plan to change."
    after = scenario.apply(question, expected.group, expected.inputs.demand)
    if isinstance(after, str):
        return after
    chosen = rule if rule in expected.plans else expected.against
    return whatif.ask(expected.inputs.demand, after, chosen or expected.against)


def _answer(
    snapshot: Snapshot,
    group: Group | None,
    expected: Expectation,
    question: Scenario,
    answer: WhatIf | str,
) -> Answer:
    name = expected.group
    href = links.group(snapshot.cluster, name)
    if group is None:
        is_loaded = snapshot.state.loaded
        gone = f"No group named “{name}” is in ZooKeeper."
        return Answer(
            name, href, gone if is_loaded else "Groups are not known before the first load from ZooKeeper."
        )
    strangers = [member for member in question.remove if member not in group.members]
    notes = tuple(f"“{member}” is no member of the group now." for member in strangers)
    if question.topic and question.topic not in expected.inputs.demand.partitions:
        notes += (f"The group does not read “{question.topic}”; its partitions change nothing.",)
    if isinstance(answer, str):
        return Answer(name, href, sentence=answer, severity=Severity.UNKNOWN, notes=notes)
    if answer.after.refused:
        sentence = f"The members would fail to rebalance and own nothing: {answer.after.refused}."
        return Answer(name, href, sentence=sentence, severity=Severity.CRITICAL, notes=notes)
    if answer.after.undetermined:
        notes += (f"Some owners cannot be told: {answer.after.undetermined}.",)
    return Answer(name, href, sentence=_sentence(answer, question), notes=notes)


def _sentence(answer: WhatIf, question: Scenario) -> str:
    if question.is_nothing:
        return "Nothing is changed yet. Say below what should be otherwise."
    total = sum(map(len, answer.after.owners.values()))
    new = sum(shift.is_new for shift in answer.shifts)
    between = cells.grouped(answer.moved_between_members)
    changes = (
        f"{cells.grouped(answer.moved)} of {cells.grouped(total)} partitions would change their owner,"
        f" {between} of them to another member"
    )
    return changes + (f"; {cells.grouped(new)} would get their first." if new else ".")


def _shares(name: str, answer: WhatIf, question: Scenario) -> tuple[Share, ...]:
    before, after = scenario.loads(answer.before), scenario.loads(answer.after)
    made = {scenario.new_member(name, question.host, number) for number in range(question.add)}

    def fate(member: str) -> str:
        return "new" if member in made else "removed" if member in question.remove else ""

    return tuple(
        Share(name, member, before.get(member, 0), after.get(member, 0), fate(member))
        for member in sorted({*before, *after, *made})
    )


def _context(expected: Expectation, question: Scenario, rule: Rule | None) -> dict[str, Any]:
    members = sorted(expected.inputs.demand.members)
    return {
        "question": question,
        "limits": what_if_query.NUMBERS,
        "members": [
            (member, group_cells.short(member, expected.group), member in question.remove)
            for member in members
        ],
        "topics": sorted(expected.inputs.demand.partitions)[:_MOST_SUGGESTED],
        "rules": [
            (plan.value, f"{plan.title} ({plan.releases})", plan is (rule or expected.against))
            for plan in expected.plans
        ],
        "share_headings": tables.headings(SHARES, ""),
        "headings": tables.headings(COLUMNS, ""),
    }


def _status(entry: Entry) -> tuple[Severity, str]:
    shift = entry.shift
    if shift.after is None:
        return Severity.CRITICAL, "left without an owner"
    if shift.is_new:
        return Severity.INFO, "gets an owner"
    return Severity.INFO, "to another member" if shift.changes_member else "to another thread"


def _thread(entry: Entry, thread: str | None) -> Cell:
    return cells.known(
        thread, lambda owner: group_cells.Thread(owner, group_cells.short(owner, entry.group)), "no owner"
    )


def _count(pick: Callable[[Share], int]) -> Callable[[Share], Cell]:
    return lambda entry: cells.Number(pick(entry))


SHARES: tuple[Column[Share], ...] = (
    Column(
        "consumer",
        "Consumer",
        lambda share: group_cells.Thread(
            share.member, group_cells.short(share.member, share.group), is_head=True
        ),
    ),
    Column("before", "Partitions now", _count(lambda share: share.before), is_number=True),
    Column("after", "After", _count(lambda share: share.after), is_number=True),
    Column("fate", "Fate", lambda share: cells.Marks((share.fate,) if share.fate else ())),
)
COLUMNS: tuple[Column[Entry], ...] = (
    Column(
        "topic",
        "Topic",
        lambda entry: cells.Name(entry.shift.topic, links.topic(entry.cluster, entry.shift.topic)),
    ),
    Column("partition", "Partition", lambda entry: group_cells.Key(entry.shift.key), is_number=True),
    Column("status", "Change", lambda entry: cells.Status(*_status(entry))),
    Column("before", "Owner now, by the plan", lambda entry: _thread(entry, entry.shift.before)),
    Column("after", "Owner after", lambda entry: _thread(entry, entry.shift.after)),
)


PAGE = Page(
    name="what-if",
    route="groups/<name:name>/what-if/",
    template="groups/what_if.html",
    look=look,
    areas=group_page.PAGE.areas,
    entities=group_page.PAGE.entities,
    canonical=what_if_query.canonical,
    shape=shapes.Shape(
        (COLUMNS,),
        {"answer": shapes.TEXT, "members": shapes.many(shapes.row(SHARES))},
        frozenset({"members"}),
        {
            "add": shapes.COUNT,
            "threads": shapes.COUNT,
            "partitions": shapes.COUNT,
            "host": shapes.TEXT,
            "remove": shapes.TEXTS,
            "topic": shapes.TEXT,
            "rule": shapes.TEXT,
            **dict.fromkeys(what_if_query.PAGES, shapes.PAGE),
        },
    ),
)
