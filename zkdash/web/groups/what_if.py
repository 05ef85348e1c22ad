"""What if: a group's plan if members, threads or partitions were others, beside the plan of now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode

import msgspec

from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.tone import Tone
from zkdash.cluster.rebalance import scenario, whatif
from zkdash.cluster.rebalance.scenario import Scenario
from zkdash.cluster.rebalance.values import Expectation
from zkdash.cluster.rebalance.whatif import Shift, WhatIf
from zkdash.kafka.assignment.rules import Rule
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.groups import cells as group_cells
from zkdash.web.groups import expectations
from zkdash.web.groups import group as group_page

MOST = 500  # rows shown; JSON and CSV have all of them
_LONGEST = 300
_MOST_FIELDS = 200
_MOST_SUGGESTED = 200
_NUMBERS = {
    "add": scenario.MOST_MEMBERS,
    "threads": scenario.MOST_THREADS,
    "partitions": scenario.MOST_PARTITIONS,
}
_KNOWN = {*_NUMBERS, "host", "remove", "topic", "rule", "format", "from"}


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
    tone: Tone = Tone.INFO
    notes: tuple[str, ...] = ()


def look(snapshot: Snapshot, key: PageKey) -> View:
    (name,) = key.args
    group = snapshot.state.groups.get(name)
    asked, rule, _ = _read(key.query)
    expected = expectations.of(snapshot, group or Group(name)).expected
    found = _ask(expected, asked, rule)
    computed = found if isinstance(found, WhatIf) else None
    entries = tuple(Entry(snapshot.cluster, name, shift) for shift in computed.shifts) if computed else ()
    answer = _answer(snapshot, group, expected, asked, found)
    shares = _shares(name, computed, asked) if computed else ()
    return View(
        title=f"What if: {name}",
        parts=(
            Block(id="answer", template="groups/what_if_answer.html", values=answer),
            tables.part(
                "shares-rows",
                SHARES,
                ((links.element_id("share", one.member), Tone.OK, one) for one in shares[:MOST]),
                Empty("No member has or would get a partition."),
            ),
            tables.part(
                "shifts-rows",
                COLUMNS,
                (
                    (links.element_id("shift", f"{one.shift.topic}/{one.shift.key}"), _status(one)[0], one)
                    for one in entries[:MOST]
                ),
                Empty("No partition gets another owner."),
            ),
        ),
        context=_context(expected, asked, rule),
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, entries),
        total=len(entries),
        extra={"answer": answer.sentence, "members": list(tables.records(SHARES, shares))},
        gone=answer.gone if snapshot.state.loaded else "",
    )


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """What is asked, without its defaults, and a sentence about each thing that was not understood."""
    asked, rule, notes = _read(raw)
    pairs = [(name, str(value)) for name in _NUMBERS if (value := getattr(asked, name))]
    pairs += [("host", asked.host)] if asked.host != scenario.HOST else []
    pairs += [("remove", member) for member in asked.remove]
    pairs += [("topic", asked.topic)] if asked.topic else []
    pairs += [("rule", rule.value)] if rule else []
    return urlencode(pairs, errors="surrogatepass"), notes


def _read(raw: str) -> tuple[Scenario, Rule | None, tuple[str, ...]]:
    try:
        given = parse_qs(raw, max_num_fields=_MOST_FIELDS, errors="replace")
    except ValueError:
        return Scenario(), None, (f"The address has more than {_MOST_FIELDS} parameters; none is read.",)
    notes = [f"“{name[:_LONGEST]}” is no parameter of this page." for name in given if name not in _KNOWN]
    asked = Scenario(
        **{name: _number(given.get(name, [""])[-1], name, most, notes) for name, most in _NUMBERS.items()},
        host=given.get("host", [""])[-1].strip()[:_LONGEST] or scenario.HOST,
        remove=tuple(dict.fromkeys(member[:_LONGEST] for member in given.get("remove", []))),
        topic=given.get("topic", [""])[-1][:_LONGEST],
    )
    return asked, _rule(given.get("rule", [""])[-1], notes), tuple(notes)


def _number(value: str, name: str, most: int, notes: list[str]) -> int:
    if not value:
        return 0
    if value.isascii() and value.isdecimal() and len(value) <= 7 and int(value) <= most:
        return int(value)
    notes.append(f"“{value[:_LONGEST]}” is no number from 0 to {most} for {name}; it is left out.")
    return 0


def _rule(value: str, notes: list[str]) -> Rule | None:
    if not value:
        return None
    found = next((rule for rule in Rule if rule.value == value), None)
    if found is None:
        notes.append(f"“{value[:_LONGEST]}” is no rule; there are {', '.join(rule.value for rule in Rule)}.")
    return found


def _ask(expected: Expectation, asked: Scenario, rule: Rule | None) -> WhatIf | str:
    """Both plans, or a sentence why they are not to be had."""
    if not expected.plans:
        why = (*expected.asked.blocked, *expected.asked.unclear)
        return f"What the group asks for cannot be told: {why[0]}." if why else "There is no plan to change."
    after = scenario.apply(asked, expected.group, expected.asked.demand)
    if isinstance(after, str):
        return after
    chosen = rule if rule in expected.plans else expected.against
    return whatif.ask(expected.asked.demand, after, chosen or expected.against)


def _answer(
    snapshot: Snapshot,
    group: Group | None,
    expected: Expectation,
    asked: Scenario,
    found: WhatIf | str,
) -> Answer:
    name = expected.group
    href = links.group(snapshot.cluster, name)
    if group is None:
        known = snapshot.state.loaded
        gone = f"No group named “{name}” is in ZooKeeper."
        return Answer(
            name, href, gone if known else "Groups are not known before the first load from ZooKeeper."
        )
    strangers = [member for member in asked.remove if member not in group.members]
    notes = tuple(f"“{member}” is no member of the group now." for member in strangers)
    if asked.topic and asked.topic not in expected.asked.demand.partitions:
        notes += (f"The group does not read “{asked.topic}”; its partitions change nothing.",)
    if isinstance(found, str):
        return Answer(name, href, sentence=found, tone=Tone.UNKNOWN, notes=notes)
    if found.after.refused:
        told = f"The members would fail to rebalance and own nothing: {found.after.refused}."
        return Answer(name, href, sentence=told, tone=Tone.CRITICAL, notes=notes)
    if found.after.undetermined:
        notes += (f"Some owners cannot be told: {found.after.undetermined}.",)
    return Answer(name, href, sentence=_sentence(found, asked), notes=notes)


def _sentence(found: WhatIf, asked: Scenario) -> str:
    if asked.is_nothing:
        return "Nothing is changed yet. Say below what should be otherwise."
    total = sum(map(len, found.after.owners.values()))
    new = sum(shift.is_new for shift in found.shifts)
    between = cells.grouped(found.moved_between_members)
    told = (
        f"{cells.grouped(found.moved)} of {cells.grouped(total)} partitions would change their owner,"
        f" {between} of them to another member"
    )
    return told + (f"; {cells.grouped(new)} would get their first." if new else ".")


def _shares(name: str, found: WhatIf, asked: Scenario) -> tuple[Share, ...]:
    before, after = scenario.loads(found.before), scenario.loads(found.after)
    made = {scenario.new_member(name, asked.host, number) for number in range(asked.add)}

    def fate(member: str) -> str:
        return "new" if member in made else "removed" if member in asked.remove else ""

    return tuple(
        Share(name, member, before.get(member, 0), after.get(member, 0), fate(member))
        for member in sorted({*before, *after, *made})
    )


def _context(expected: Expectation, asked: Scenario, rule: Rule | None) -> dict[str, Any]:
    members = sorted(expected.asked.demand.members)
    return {
        "asked": asked,
        "limits": _NUMBERS,
        "members": [
            (member, group_cells.short(member, expected.group), member in asked.remove) for member in members
        ],
        "topics": sorted(expected.asked.demand.partitions)[:_MOST_SUGGESTED],
        "rules": [
            (one.value, f"{one.title} ({one.releases})", one is (rule or expected.against))
            for one in expected.plans
        ],
        "share_headings": tables.headings(SHARES, ""),
        "headings": tables.headings(COLUMNS, ""),
    }


def _status(one: Entry) -> tuple[Tone, str]:
    shift = one.shift
    if shift.after is None:
        return Tone.CRITICAL, "left without an owner"
    if shift.is_new:
        return Tone.INFO, "gets an owner"
    return Tone.INFO, "to another member" if shift.changes_member else "to another thread"


def _thread(one: Entry, thread: str | None) -> Cell:
    return cells.known(
        thread, lambda found: group_cells.Thread(found, group_cells.short(found, one.group)), "no owner"
    )


def _count(pick: Callable[[Share], int]) -> Callable[[Share], Cell]:
    return lambda one: cells.Number(pick(one))


SHARES: tuple[Column[Share], ...] = (
    Column(
        "consumer",
        "Consumer",
        lambda one: group_cells.Thread(one.member, group_cells.short(one.member, one.group), is_head=True),
    ),
    Column("before", "Partitions now", _count(lambda one: one.before), is_number=True),
    Column("after", "After", _count(lambda one: one.after), is_number=True),
    Column("fate", "Fate", lambda one: cells.Marks((one.fate,) if one.fate else ())),
)
COLUMNS: tuple[Column[Entry], ...] = (
    Column(
        "topic", "Topic", lambda one: cells.Name(one.shift.topic, links.topic(one.cluster, one.shift.topic))
    ),
    Column("partition", "Partition", lambda one: group_cells.Key(one.shift.key), is_number=True),
    Column("status", "Change", lambda one: cells.Status(*_status(one))),
    Column("before", "Owner now, by the plan", lambda one: _thread(one, one.shift.before)),
    Column("after", "Owner after", lambda one: _thread(one, one.shift.after)),
)


PAGE = Page(
    name="what-if",
    route="groups/<name:name>/what-if/",
    template="groups/what_if.html",
    look=look,
    areas=group_page.PAGE.areas,
    entities=group_page.PAGE.entities,
    canonical=canonical,
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
        },
    ),
)
