"""Each check on a real ZooKeeper: a fault that it must find, a neighbour that it must not."""

from __future__ import annotations

import pytest

from tests.cluster.checks import planting, test_planted_in_time, trees
from tests.cluster.checks.cases.controller import YOUNG
from tests.cluster.checks.every_case import CASES
from tests.cluster.checks.planting import Case
from tests.conftest import Chroot
from zkdash.cluster import checks


def _name(case: Case) -> str:
    return case.check


def test_every_check_has_a_planted_fault() -> None:
    assert {case.check for case in CASES} | test_planted_in_time.CHECKS == set(checks.BY_ID)


@pytest.mark.zk
@pytest.mark.parametrize("case", CASES, ids=_name)
def test_a_planted_fault_is_found_with_its_causes_and_no_other(case: Case, chroot: Chroot) -> None:
    healthy = {path: node for path, node in trees.HEALTHY.items() if path not in case.gone}
    planting.plant(chroot, healthy | case.fault)
    state = planting.read(chroot)
    assert planting.causes(state, case.check, case.facts[0]) == case.causes
    seen = planting.watched(state, case.check, case.after, case.facts[0])
    (finding,) = [finding for finding in seen.findings if finding.check == case.check]
    assert finding.sentence
    assert case.check not in seen.passing


@pytest.mark.zk
@pytest.mark.parametrize("case", CASES, ids=_name)
def test_its_healthy_neighbour_passes(case: Case, chroot: Chroot) -> None:
    planting.plant(chroot, trees.HEALTHY | case.neighbour)
    state = planting.read(chroot)
    seen = planting.watched(state, case.check, case.after, case.facts[1])
    assert case.check in seen.passing


@pytest.mark.zk
def test_nothing_is_held_against_the_healthy_cluster(chroot: Chroot) -> None:
    planting.plant(chroot, trees.HEALTHY)
    state = planting.read(chroot)
    for check in checks.CHECKS:
        assert planting.watched(state, check.id).findings == (), check.id


@pytest.mark.zk
@pytest.mark.parametrize("check", sorted(YOUNG))
def test_what_has_just_begun_is_no_fault_yet(check: str, chroot: Chroot) -> None:
    planting.plant(chroot, trees.HEALTHY | YOUNG[check])
    state = planting.read(chroot)
    assert planting.causes(state, check)
    seen = planting.watched(state, check, after=30)
    assert check not in [finding.check for finding in seen.findings]
