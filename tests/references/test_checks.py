from __future__ import annotations

import inspect

import pytest

from zkdash.cluster.checks import BY_ID, CHECKS, Check, Thresholds
from zkdash.cluster.checks.catalogue import EVALUATIONS
from zkdash.cluster.evaluation import partitions, topics, znodes


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_names_the_thresholds_that_it_goes_by(check: Check) -> None:
    assert {check.hold, *check.thresholds} <= {*Thresholds.__struct_fields__}
    assert "confirm" not in check.thresholds
    assert len({*check.thresholds}) == len(check.thresholds)
    assert {check.hold, check.worsens} <= {"", "confirm", *check.thresholds}


def test_what_is_found_of_one_thing_at_a_time_is_found_in_one_place_by_a_check() -> None:
    marks = [one for one in topics.CHECKS if one not in (partitions.MOVING, partitions.STRANGERS)]
    found = [*marks, *znodes.CHECKS, *EVALUATIONS.topics, *EVALUATIONS.groups]
    assert len(found) == len({*found})
    assert {*found} <= BY_ID.keys()


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
