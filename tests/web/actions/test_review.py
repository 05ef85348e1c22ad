"""The review of a plan, as values and as HTML."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from django.template.loader import render_to_string
from lxml import html

from tests.web import states
from tests.web.states import TIME
from zkdash.cluster.foresight import Foreseen, Foresight
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import planner
from zkdash.cluster.plans.goals import Assigned, Consumed, Gone, Led, Reelected, Written
from zkdash.cluster.plans.intents import CreateTopic, Reassign
from zkdash.cluster.plans.values import Edit, Effect, Ground, Plan, Step, Write
from zkdash.kafka.values import Move
from zkdash.web.actions import changes, foreseen, review, review_pages, review_words
from zkdash.znode import Operation


def planned(intent: Any, state: ClusterState | None = None, **tree: Any) -> Plan:
    plan = planner.plan(intent, Ground(state or states.load(states.healthy()), tree))
    assert not plan.refusals
    return plan


def seen(plan: Plan, state: ClusterState | None = None, **context: Any) -> html.HtmlElement:
    markup = render_to_string("actions/review.html", {"review": review.of(plan, state), **context})
    return html.fromstring(f"<div>{markup}</div>")


def words(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


MOVE = Reassign((Move("orders", 0, (2, 1)), Move("payments", 1, (3, 1))))


def test_a_move_is_drawn_as_its_table_tells_it() -> None:
    state = states.load(states.healthy())
    page = seen(planned(MOVE), state)
    rows = {
        (words(row[0]), words(row[1])): [words(cell) for cell in row[2:6]] for row in page.xpath("//tbody/tr")
    }
    drawn = {}
    for section in page.xpath("//section"):
        lines = [figure.xpath(".//g[@data-partition]") for figure in section.xpath(".//figure")]
        for before, after in zip(*lines, strict=True):
            assert before.get("data-partition") == after.get("data-partition")
            (leaving, now), (coming, then) = (_cells(line) for line in (before, after))
            drawn[words(section.find("h2")), after.get("data-partition")] = [now, then, coming, leaving]
    expected = {
        name: [
            set(now.split(", ")),
            set(after.split(", ")),
            set(new.replace("+", "").split()),
            set(gone.replace("−", "").split()),
        ]
        for name, (now, after, new, gone) in rows.items()
    }
    assert drawn == expected
    assert seen(planned(MOVE)).xpath("//svg") == []  # once it is begun, nobody can tell how it was


def _cells(line: html.HtmlElement) -> tuple[set[str], set[str]]:
    """The brokers whose cell has an arrow, and all of them."""
    marked, brokers, broker = set(), set(), ""
    for piece in line:
        if piece.tag == "rect":
            broker = piece.get("data-broker")
            brokers.add(broker)
        elif {"→", "←"} & set(piece.text or ""):
            marked.add(broker)
    return marked, brokers


def test_a_move_tells_its_partitions_its_write_and_its_goal() -> None:
    page = seen(planned(MOVE))
    rows = [[words(cell) for cell in row] for row in page.xpath("//tbody/tr")]
    assert rows == [
        ["orders", "0", "1, 2, 3", "2, 1", "", "−3", "1 → 2"],
        ["payments", "1", "2, 3", "3, 1", "+1", "−2", "2 → 3"],
    ]
    text = words(page)
    assert "then waits until 2 partitions have exactly these replicas" in text
    assert "create /admin/reassign_partitions must be absent" in text
    assert "Undone by a reassignment to the replicas as they are now." in text
    assert "The controller reads it, has the new replicas copy" in text
    assert "2 znodes compared, not written" in text
    assert "/brokers/topics/orders version must be 3" in text
    assert "added" in text


def test_what_cannot_be_undone_is_told_so() -> None:
    plan = Plan("delete-topic", "orders", (Step("Mark", (), Gone("orders")),))
    assert review.of(plan).undo == "Nothing puts it back as it was."
    assert "Delete a topic" in review.of(planned(CreateTopic("new", 1, 1))).undo


def test_replicas_are_told_by_the_state_where_the_plan_does_not_know_them() -> None:
    state = states.load(states.sick())
    plan = msgspec.structs.replace(planned(Reassign((Move("payments", 1, (2, 1)),)), state), inverse=None)
    assert review.of(plan).shifts[0].before is None
    assert "unknown" in words(seen(plan))
    (shift,) = review.of(plan, state).shifts
    assert (shift.before, shift.new, shift.dropped, shift.leader) == ((2, 3), (1,), (3,), "")


def test_a_change_of_data_is_shown_as_lines() -> None:
    write = Write(
        "/config/topics/t",
        Operation.SET,
        7,
        b'{"version":1,"config":{"retention.ms":"1"}}',
        b'{"version":1,"config":{"retention.ms":"2"}}',
        undo="the values as before",
    )
    page = seen(Plan("change-config", "t", (Step("Change it", (write,), Written()),)))
    assert words(page.xpath("//li[@class='removed']")[0]) == 'removed "retention.ms": "1"'
    assert words(page.xpath("//li[@class='added']")[0]) == 'added "retention.ms": "2"'
    assert "version must be 7" in words(page)


def test_a_secret_never_shows_even_where_a_plan_holds_it() -> None:
    secret = b'{"version":1,"config":{"password":"hunter2"}}'
    write = Write(
        "/config/brokers/1",
        Operation.SET,
        2,
        secret,
        secret,
        edit=Edit({"leader.replication.throttled.rate": "9"}),
    )
    page = seen(Plan("clear-throttles", "throttles", (Step("Edit", (write,), Written()),)))
    assert "hunter2" not in html.tostring(page).decode()
    assert "Only these change: leader.replication.throttled.rate = 9." in words(page)


def test_a_name_is_only_ever_text() -> None:
    evil = "<img src=x onerror=alert(1)>"
    write = Write(f"/brokers/topics/{evil}", Operation.CREATE, after=f'"{evil}"'.encode(), undo=evil)
    plan = Plan(
        "create-topic", evil, (Step(evil, (write,), Led(evil, (0,))),), warnings=(evil,), confirm=evil
    )
    assert seen(plan, submit="/here/").xpath("//img") == []


def test_a_thousand_partitions_make_a_small_page() -> None:
    brokers = tuple(range(1, 7))
    tree = {
        **states.brokers(*brokers),
        **states.controller(1),
        **states.topic("big", {number: [1, 2, 3] for number in range(1000)}, mtime=TIME),
    }
    state = states.load(tree)
    moves = tuple(Move("big", number, (4, 5, 6)) for number in range(1000))
    for concurrent, steps in ((None, 1), (5, 200)):
        plan = planned(Reassign(moves, concurrent), state)
        made = review.of(plan)
        assert (made.steps, made.shifted, len(made.shifts)) == (steps, 1000, review.MOST_SHIFTS)
        markup = render_to_string("actions/review.html", {"review": made})
        assert len(markup) < 120_000
        assert "The first 100 of 1\u202f000; the plan’s JSON has all." in markup


def test_long_lists_of_a_review_have_pages_and_each_stays_where_it_is_while_another_turns() -> None:
    brokers = tuple(range(1, 7))
    count = 2 * review.MOST_SHIFTS + 5
    tree = {
        **states.brokers(*brokers),
        **states.controller(1),
        **states.topic("big", {number: [1, 2, 3] for number in range(count)}, mtime=TIME),
    }
    state = states.load(tree)
    plan = planned(Reassign(tuple(Move("big", number, (4, 5, 6)) for number in range(count)), 1), state)
    assert len(plan.steps) == count > 2 * review.MOST_STEPS
    made = review.of(plan, state, at=review_pages.read("partitions=3&written=2"))
    assert [shift.partition for shift in made.shifts] == [*range(2 * review.MOST_SHIFTS, count)]
    assert [part.number for part in made.parts] == [*range(review.MOST_STEPS + 1, 2 * review.MOST_STEPS + 1)]
    page = html.fromstring(f"<div>{render_to_string('actions/review.html', {'review': made})}</div>")
    links = {
        nav.get("aria-label"): [link.get("href") for link in nav.iter("a")]
        for nav in page.xpath("//nav[@class='pager']")
    }
    assert links == {
        "Pages of the partitions": ["?partitions=2&written=2#partitions"],
        "Pages of the steps": ["?partitions=3#written", "?partitions=3&written=3#written"],
    }
    last = review.of(plan, state, at=review_pages.read("partitions=99"))
    assert last.shifts == made.shifts


def test_a_page_of_a_review_that_is_none_is_named() -> None:
    assert review_pages.canonical("partitions=x&values=2&colour=red") == (
        "values=2",
        ("“colour” is not a parameter of this page.", "“x” is not a page; showing the first."),
    )


def test_values_that_are_too_many_for_one_page_have_more() -> None:
    count = changes.MOST + 2
    writes = tuple(
        Write(f"/consumers/g/offsets/t/{n}", Operation.SET, before=b"1", after=b"2") for n in range(count)
    )
    plan = Plan("reset-offsets", "g", (Step("Write", writes, Written()),))
    second = review.of(plan, at=review_pages.read("values=2")).changes
    assert (second.total, [change.thing for change in second.shown]) == (count, ["t-100", "t-101"])


def test_many_writes_are_counted() -> None:
    writes = tuple(Write(f"/consumers/g/offsets/t/{n}", Operation.CREATE, after=b"1") for n in range(300))
    made = review.of(Plan("reset-offsets", "g", (Step("Write", writes, Written()),)))
    assert len(made.parts[0].writes) + made.parts[0].more == 300
    assert made.parts[0].more == 300 - review.MOST_WRITES
    assert made.parts[0].next == ("The next consumer that owns the partition begins there.",)


def test_what_would_be_read_again_is_among_the_numbers() -> None:
    effect = Effect(partitions=2, read_again=60_000, skipped=3)
    assert dict(review.of(Plan("reset-offsets", "g", effect=effect)).numbers) == {
        "Partitions": "2",
        "Messages read again, at most": "60\u202f000",
        "Messages skipped, at most": "3",
    }
    old = Effect(partitions=1, read_again=7, unit="bytes")
    assert ("Bytes read again, at most", "7") in review.of(Plan("reset-offsets", "g", effect=old)).numbers


def test_the_last_step_shows_its_write_however_many_the_first_has() -> None:
    many = tuple(Write(f"/config/topics/t-{n}", Operation.CREATE, after=b"1") for n in range(300))
    move = Write("/admin/reassign_partitions", Operation.CREATE, after=b"{}")
    made = review.of(
        Plan("reassign", "t", (Step("Throttle", many, Written()), Step("Move", (move,), Written())))
    )
    assert [(len(part.writes), part.more) for part in made.parts] == [(20, 280), (1, 0)]


def test_what_must_be_typed_is_asked_for_only_where_the_form_is_wanted() -> None:
    plan = Plan("delete-topic", "orders", confirm="orders")
    assert seen(plan).xpath("//form") == []
    page = seen(plan, submit="/c/demo/actions/1/submit/")
    assert page.xpath("//form/@action") == ["/c/demo/actions/1/submit/"]
    assert len(page.xpath("//input[@name='confirm']")) == 1
    assert seen(Plan("reassign", "t"), submit="/x/").xpath("//input[@name='confirm']") == []


def test_refusals_come_first() -> None:
    page = seen(Plan("reassign", "t", refusals=("There is no controller.",)))
    assert words(page.xpath("//li[@class='fault']")[0]) == "There is no controller."


@pytest.mark.parametrize(
    ("goal", "sentence"),
    [
        (Written(), "done as soon as it is written"),
        (Consumed("/admin/x"), "then waits until the controller has removed /admin/x"),
        (Assigned((Move("t", 0, (1,)),)), "then waits until 1 partition has exactly these replicas"),
        (Led("t", (3, 4)), "then waits until 2 new partitions have a leader (t)"),
        (Gone("t"), "then waits until t, its configuration and its mark are gone"),
        (Reelected(4), "then waits until there is a controller of an epoch above 4"),
    ],
)
def test_every_goal_has_its_words(goal: Any, sentence: str) -> None:
    assert review_words.waits_for(goal) == sentence


def test_what_checks_would_find_stands_before_what_is_written_and_is_only_ever_text() -> None:
    evil = "<img src=x onerror=alert(1)>"
    one = Foreseen("D9", Severity.CRITICAL, evil, ((evil, ""), ("t", evil)), 37, 600.0)
    found = foreseen.told("demo", Foresight((one,), (), (evil,)))
    markup = render_to_string("actions/review.html", {"review": review.of(planned(MOVE), foreseen=found)})
    page = html.fromstring(f"<div>{markup}</div>")
    assert page.xpath("//img") == []
    headings = [words(heading) for heading in page.xpath("//h2")]
    assert headings == [
        "Placement before and after: 2 partitions",
        "Findings that it creates",
        "What is written, step by step",
    ]
    (line,) = page.xpath("//ul[@class='checks']/li")
    assert words(line) == f"✕ critical {evil} if it lasts 10 min {evil}; t: {evil}; and 37 more"
    healthy = foreseen.told("demo", Foresight((), (one,), ()))
    markup = render_to_string("actions/review.html", {"review": review.of(planned(MOVE), foreseen=healthy)})
    assert "No new findings." in markup
    assert "Findings that it resolves" in markup
    assert "Findings that it creates" not in words(seen(planned(MOVE)))


def test_a_review_can_be_compared() -> None:
    assert review.of(planned(MOVE)) == review.of(planned(MOVE))
    assert review.of(planned(MOVE)).what == "Move replicas"
