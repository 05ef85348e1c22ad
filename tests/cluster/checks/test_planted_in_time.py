"""Checks of what happens over time: planted one after the other in a real ZooKeeper."""

from __future__ import annotations

import time

import pytest

from tests.cluster.checks import planting, trees
from tests.cluster.checks.planting import document
from tests.conftest import Chroot
from tests.narrowing import known
from zkdash.cluster import checks
from zkdash.cluster.checks import Observations, Thresholds
from zkdash.kafka import paths

pytestmark = pytest.mark.zk

CHECKS = {"D20", "D37", "D48", "D64"}
CHANGE = document({"version": 2, "entity_path": "topics/fine"})


@pytest.mark.parametrize(("elections", "found"), [(4, True), (3, False)])
def test_controllers_that_follow_each_other_are_counted(chroot: Chroot, elections: int, found: bool) -> None:
    planting.plant(chroot, trees.HEALTHY)
    now = time.time()
    seen = checks.observe(Observations(), planting.read(chroot), now)
    for number in range(elections):
        chroot.client.set(paths.CONTROLLER_EPOCH, str(6 + number).encode())
        now += 60
        seen = checks.observe(seen, planting.read(chroot), now)
    seen = checks.observe(seen, planting.read(chroot), now + 2)
    assert ("D20" in [one.check for one in seen.findings]) is found
    assert ("D20" in seen.passing) is not found
    after_an_hour = checks.observe(seen, planting.read(chroot), now + 3601)
    assert "D20" in after_an_hour.passing


@pytest.mark.parametrize(("together", "found"), [(False, True), (True, False)])
def test_a_notification_that_outlived_a_later_one_is_told(
    chroot: Chroot, together: bool, found: bool
) -> None:
    """Here brokers keep notifications for no time at all: what differs is whether they were made at once."""
    first = {f"{paths.CONFIG_CHANGES}/config_change_0000000001": CHANGE}
    later = {f"{paths.CONFIG_CHANGES}/config_change_0000000002": CHANGE}
    planting.plant(chroot, trees.HEALTHY | first | (later if together else {}))
    if not together:
        made = chroot.client.exists(f"{paths.CONFIG_CHANGES}/config_change_0000000001").ctime
        while time.time() * 1000 <= made + 1:
            chroot.client.sync("/")
        planting.grow(chroot, later)
    state = planting.read(chroot)
    now = time.time()
    seen = Observations(thresholds=Thresholds(config_changes=0.0))
    for when in (now, now + 61):
        seen = checks.observe(seen, state, when)
    assert ("D37" in [one.check for one in seen.findings]) is found


@pytest.mark.parametrize(("commits", "found"), [(False, True), (True, False)])
def test_a_group_with_members_that_does_not_commit_is_told(
    chroot: Chroot, commits: bool, found: bool
) -> None:
    """Here a group may be quiet for a second."""
    planting.plant(chroot, trees.HEALTHY)
    thresholds = Thresholds(frozen=1.0)
    state = planting.read(chroot)
    committed = max(known(state.groups["readers"].offsets["fine"][part].znode).mtime for part in "012") / 1000
    first = checks.observe(Observations(thresholds=thresholds), state, committed + 2)
    if commits:
        while time.time() < committed + 2:
            chroot.client.sync("/")
        chroot.client.set("/consumers/readers/offsets/fine/2", b"31")
        state = planting.read(chroot)
    seen = checks.observe(first, state, committed + 2 if commits else committed + 65)
    seen = checks.observe(seen, state, committed + 2.5 if commits else committed + 70)
    assert ("D48" in [one.check for one in seen.findings]) is found


@pytest.mark.parametrize(
    ("hosts", "found"),
    [
        # two servers that have one id, each of which registers once the other's session is gone
        (["host-1", "twin", "host-1"], True),
        # moved to another host, and started again there
        (["host-1", "moved", "moved"], False),
    ],
)
def test_an_id_that_two_hosts_register_in_turn_is_told(chroot: Chroot, hosts: list[str], found: bool) -> None:
    planting.plant(chroot, trees.HEALTHY)
    seen = checks.observe(Observations(), planting.read(chroot), time.time())
    for host in hosts:
        chroot.client.delete("/brokers/ids/1")
        seen = checks.observe(seen, planting.read(chroot), time.time())
        planting.grow(chroot, trees.broker(1, host=host))
        seen = checks.observe(seen, planting.read(chroot), time.time())
    confirmed = checks.observe(seen, planting.read(chroot), time.time() + 2)
    assert ("D64" in [finding.check for finding in confirmed.findings]) is found
    assert ("D64" in confirmed.passing) is not found
    after = checks.observe(confirmed, planting.read(chroot), time.time() + 602)
    assert "D64" in after.passing
