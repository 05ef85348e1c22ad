"""Findings as the database remembers them, and who took note of them."""

from __future__ import annotations

import pytest
from django import db

from tests.alarms import seeing
from tests.databases import Database, in_threads
from zkdash.actions.actor import Actor
from zkdash.actions.models import Audit
from zkdash.actions.reading.entries import UnavailableError
from zkdash.alarms import acknowledging, keeping
from zkdash.alarms.acknowledging import AcknowledgingError, Shown
from zkdash.alarms.keeping import Keeper
from zkdash.alarms.models import Acknowledgement, Occurrence
from zkdash.alarms.open_alarms import Alarms, Seen, first_seen
from zkdash.cluster.checks import CHECKS
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.violations import Violation
from zkdash.configuration.checks import ChecksByCluster

pytestmark = pytest.mark.django_db(transaction=True)

ANN = Actor("ann")


def turn(seen: Seen, seconds: float = 0, keeper: Keeper | None = None) -> Alarms:
    return (keeper or Keeper(ChecksByCluster())).turn({"shop": seen}, seeing.at(seconds))["shop"]


def take_note(
    seen: Seen,
    check: str = "D3",
    *causes: str,
    number: int = 1,
    seconds: float = 0,
    until: float | None = None,
) -> int:
    shown = Shown("shop", check, number, seen.observations.looked[check])
    return acknowledging.acknowledge(
        shown,
        ANN,
        "we know",
        now=seeing.at(seconds),
        until=None if until is None else seeing.at(until),
        causes=causes,
    )


def endings() -> list[str]:
    return list(Acknowledgement.objects.order_by("id").values_list("ended_why", flat=True))


def test_a_finding_is_numbered_each_time_and_keeps_its_first_moment_over_a_restart() -> None:
    seen = seeing.failing("D3", "orders")
    before = turn(seen).standing["D3"]
    assert before.number == 1
    assert (
        turn(seeing.waiting("D3", "orders"), 5).standing["D3"] == before
    )  # another process, that has seen it for a moment only
    finding = seen.observations.findings[0]
    assert first_seen(finding, before) == int(seeing.SINCE * 1000)
    assert turn(seeing.passing("D3"), 10).standing == {}
    assert turn(seen, 20).standing["D3"].number == 2
    assert [str(one) for one in Occurrence.objects.order_by("number")] == ["shop/D3/1", "shop/D3/2"]


def test_two_processes_write_one_occurrence(database: Database) -> None:
    seen = seeing.failing("D3", "orders")
    for _ in range(5):
        in_threads(*[lambda: turn(seen, 1)] * 4)
        assert Occurrence.objects.filter(cleared_at=None).count() == 1
        in_threads(*[lambda: turn(seeing.passing("D3"), 2)] * 4)
        assert Occurrence.objects.filter(cleared_at=None).count() == 0
    assert Occurrence.objects.count() == 5
    assert sorted(Occurrence.objects.values_list("number", flat=True)) == [1, 2, 3, 4, 5]


def test_what_a_process_does_not_follow_or_has_only_just_seen_decides_nothing() -> None:
    turn(seeing.failing("D3", "orders"))
    past = seeing.passing("D3")
    assert "D3" in turn(Seen(past.observations, current=False), 1).standing
    assert "D3" in turn(seeing.waiting("D3", "orders"), 2).standing
    assert turn(Seen(seeing.failing("D4", "orders").observations, current=False), 3).standing.keys() == {"D3"}


def test_a_check_that_cannot_be_made_is_over_after_a_minute_and_not_before() -> None:
    keeper = Keeper(ChecksByCluster())
    turn(seeing.failing("D3", "orders"), 0, keeper)
    assert "D3" in turn(seeing.silent("D3"), 1, keeper).standing
    assert "D3" in turn(seeing.silent("D3"), 60, keeper).standing
    assert turn(seeing.silent("D3"), 61, keeper).standing == {}


def test_a_check_that_was_taken_out_of_the_catalogue_is_over_too() -> None:
    row = {"cluster": "shop", "number": 1, "severity": "warning", "sentence": "It fails"}
    Occurrence.objects.create(check_id="D999", first_seen=seeing.at(0), opened_at=seeing.at(0), **row)
    keeper = Keeper(ChecksByCluster())
    assert "D999" in turn(seeing.passing("D3"), 0, keeper).standing
    assert turn(seeing.passing("D3"), 61, keeper).standing == {}


def test_old_occurrences_are_forgotten_and_numbers_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "KEPT", 3)
    for number in range(6):
        turn(seeing.failing("D3", "orders"), number)
        turn(seeing.passing("D3"), number)
    assert sorted(Occurrence.objects.values_list("number", flat=True)) == [4, 5, 6]


def test_who_takes_note_says_why_and_the_audit_tells() -> None:
    seen = seeing.failing("D3", "orders", "clicks")
    turn(seen)
    with pytest.raises(AcknowledgingError, match="say in a sentence"):
        acknowledging.acknowledge(
            Shown("shop", "D3", 1, seen.observations.looked["D3"]), ANN, " \n", now=seeing.at(1)
        )
    take_note(seen)
    alarms = turn(seen, 2)
    assert alarms.acknowledged == {"D3"}
    (known,) = alarms.standing["D3"].acknowledgements
    assert (known.by, known.reason, known.covers) == ("ann", "we know", {"orders": 1, "clicks": 1})
    row = Audit.objects.get()
    assert (row.event, row.who, row.cluster) == ("acknowledged", "ann", "shop")
    assert b"we know" in bytes(row.detail)
    assert b"shop/D3/1" in bytes(row.detail)


def test_it_ends_when_the_finding_clears_and_the_next_time_it_leads_again() -> None:
    seen = seeing.failing("D3", "orders")
    turn(seen)
    take_note(seen)
    turn(seeing.passing("D3"), 1)
    assert endings() == ["The finding cleared."]
    assert turn(seen, 2).acknowledged == frozenset()


def test_it_ends_when_a_cause_comes_that_it_did_not_cover_and_says_which() -> None:
    seen = seeing.failing("D3", "orders")
    turn(seen)
    take_note(seen)
    assert turn(seeing.failing("D3", "orders"), 1).acknowledged == {"D3"}
    assert turn(seeing.failing("D3", "clicks", "orders", "payments"), 2).acknowledged == frozenset()
    assert endings() == ["Another cause came: clicks and 1 more."]


def test_of_causes_without_names_the_number_may_not_grow() -> None:
    seen = seeing.of("D1", seeing.looked("D1", {"": Violation(3)}))
    turn(seen)
    take_note(seen, "D1")
    assert turn(seeing.of("D1", seeing.looked("D1", {"": Violation(2)})), 1).acknowledged == {"D1"}
    assert turn(seeing.of("D1", seeing.looked("D1", {"": Violation(4)})), 2).acknowledged == frozenset()
    assert endings() == ["It grew from 3 to 4."]


def test_it_ends_when_what_it_covers_gets_worse() -> None:
    usual = next(check for check in CHECKS if check.severity is Severity.WARNING)
    seen = seeing.failing(usual.id, "orders")
    turn(seen)
    take_note(seen, usual.id)
    worse = seeing.of(usual.id, seeing.looked(usual.id, {"orders": Violation(severity=Severity.CRITICAL)}))
    assert turn(worse, 1).acknowledged == frozenset()
    assert endings() == ["It became critical."]


def test_it_ends_at_its_time() -> None:
    seen = seeing.failing("D3", "orders")
    turn(seen)
    take_note(seen, until=10)
    assert turn(seen, 9).acknowledged == {"D3"}
    assert turn(seen, 10).acknowledged == frozenset()
    assert endings() == ["The time that was given is over."]


def test_some_causes_can_be_covered_and_the_finding_leads_as_long_as_there_are_others() -> None:
    seen = seeing.failing("D3", "orders", "clicks")
    turn(seen)
    take_note(seen, "D3", "orders")
    assert turn(seen, 1).acknowledged == frozenset()
    take_note(seen, "D3", "clicks")
    assert turn(seen, 2).acknowledged == {"D3"}
    grown = seeing.failing("D3", "orders", "clicks", "payments")
    assert turn(grown, 3).acknowledged == frozenset()
    assert endings() == ["", ""]
    assert turn(seeing.failing("D3", "orders"), 4).acknowledged == {"D3"}
    assert endings() == ["", "None of its causes is left."]


def test_what_was_shown_and_has_cleared_cannot_be_acknowledged() -> None:
    seen = seeing.failing("D3", "orders")
    turn(seen)
    turn(seeing.passing("D3"), 1)
    turn(seen, 2)
    with pytest.raises(AcknowledgingError, match="has cleared"):
        take_note(seen, number=1)
    with pytest.raises(AcknowledgingError, match="clicks is no cause"):
        take_note(seen, "D3", "clicks", number=2)
    with pytest.raises(AcknowledgingError, match="is over"):
        take_note(seen, number=2, seconds=5, until=5)
    with pytest.raises(AcknowledgingError, match="does not fail now"):
        take_note(seeing.passing("D3"), number=2)
    assert (Acknowledgement.objects.count(), Audit.objects.count()) == (0, 0)


def test_it_can_be_taken_back_once_and_only_where_it_is() -> None:
    seen = seeing.failing("D3", "orders")
    turn(seen)
    number = take_note(seen)
    for cluster, check in (("other", "D3"), ("shop", "D4")):
        with pytest.raises(AcknowledgingError, match="has ended"):
            acknowledging.withdraw(cluster, check, number, ANN, now=seeing.at(1))
    acknowledging.withdraw("shop", "D3", number, Actor("bob"), now=seeing.at(1))
    assert turn(seen, 2).acknowledged == frozenset()
    assert endings() == ["bob took it back."]
    with pytest.raises(AcknowledgingError, match="has ended"):
        acknowledging.withdraw("shop", "D3", number, ANN, now=seeing.at(3))
    assert list(Audit.objects.values_list("event", flat=True)) == [
        "acknowledged",
        "acknowledgement-withdrawn",
    ]


def test_names_that_no_database_takes_as_text_are_covered_too() -> None:
    seen = seeing.failing("D3", "a\ud800\0b")
    turn(seen)
    take_note(seen)
    assert turn(seen, 1).acknowledged == {"D3"}


def test_a_database_that_is_away_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise db.OperationalError("gone")

    monkeypatch.setattr(Occurrence.objects, "filter", away)
    with pytest.raises(UnavailableError, match="OperationalError"):
        turn(seeing.failing("D3", "orders"))
