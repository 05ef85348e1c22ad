"""What the checks hold against real clusters: exactly what was reviewed, and nothing else."""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import recorded
from tests.cluster import small
from zkdash.cluster import checks
from zkdash.cluster.checks import Observations

EXPECTED = Path(recorded.__file__).parent / "fixtures" / "expected" / "findings.toml"
# Longer than any check waits that tells of something within a minute.
LATER_S = 70.0


@functools.cache
def expected() -> Mapping[str, Any]:
    return tomllib.loads(EXPECTED.read_text())


def found(name: str) -> dict[str, Any]:
    """By check: how bad it is, and its causes with their counts."""
    state = small.built(recorded.load(name))
    taken = recorded.taken_ms(name) / 1000
    seen = Observations()
    for when in (taken, taken + LATER_S):
        seen = checks.observe(seen, state, when)
    told = {}
    for finding in seen.findings:
        looked = seen.looked[finding.check]
        causes = {name: looked.causes[name].count for name in looked.held} if looked.causes else {}
        told[finding.check] = {"severity": finding.severity.value, "causes": causes}
    return told


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_the_findings_of_a_recorded_cluster_are_the_reviewed_ones(name: str) -> None:
    reviewed = {
        check: {"severity": entry["severity"], "causes": entry["causes"]}
        for check, entry in expected()[name].items()
    }
    assert found(name) == reviewed, json.dumps(found(name), indent=1)


def test_every_reviewed_finding_says_why_it_is_real() -> None:
    assert set(expected()) == set(recorded.RECORDED)
    for entries in expected().values():
        for check, entry in entries.items():
            assert check in checks.BY_ID
            assert len(entry["because"]) > len("it is real")
