from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests import checks_told
from zkdash.cluster.checks import CHECKS, Check, Thresholds

PAGE = Path(__file__).resolve().parent.parent / "docs" / "checks.md"


class Spied:
    """Thresholds that note which of them were asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __getattr__(self, name: str) -> float:
        self.asked.add(name)
        return float(getattr(Thresholds(), name))


def test_the_page_of_checks_says_what_the_catalogue_does() -> None:
    assert PAGE.read_text() == checks_told.text(), "python -m tests.checks_told > docs/checks.md"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_names_the_thresholds_that_it_goes_by(check: Check) -> None:
    spied = Spied()
    check.hold(spied)  # type: ignore[arg-type]
    assert spied.asked <= {"confirm", *check.thresholds}
    assert {*check.thresholds} <= {*Thresholds.__struct_fields__}


def test_every_threshold_is_gone_by_somewhere() -> None:
    gone_by = {name for check in CHECKS for name in check.thresholds}
    assert {*Thresholds.__struct_fields__} - {"confirm"} == gone_by


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_reads_well_in_both_states(check: Check) -> None:
    for count, causes in ((1, 1), (2, 1), (12_345, 678)):
        said = check.failing(count, causes)
        assert not said[0].islower()
        assert not said.endswith(".")
        assert "12345" not in said
    assert not check.passing.endswith(".")
    for sentence in (check.computed, check.remedy):
        assert sentence.endswith(".")
        assert sentence == inspect.cleandoc(sentence)


def test_what_is_said_of_the_least_isr_is_where_it_is_read() -> None:
    said = next(check.computed for check in CHECKS if check.id == "D9")
    assert "/config/topics, else of /config/brokers/<default>" in said
