"""What a watcher makes of its mirror's batches, sessions and ticks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import small
from zkdash.live import snapshot_registry
from zkdash.live.snapshot import ChangedAreas, Snapshot
from zkdash.live.watching.watcher import Watcher
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.session import Phase, Session
from zkdash.zk.wire.side_requests import SideRequests
from zkdash.znode import Acl, Batch

START = 1_700_000_000.0


class Source:
    """A mirror that says when it was last proved, and nothing by itself: the test calls the sink."""

    proved_at: float | None = None
    session = Session()

    def __init__(self, *_: Any, **__: Any) -> None:
        self.aside = SideRequests(lambda _entry: None)

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Scene:
    """A watcher of the cluster `east`, its clock, and what it notified."""

    def __init__(self) -> None:
        self.now = START
        self.told: list[tuple[int, ChangedAreas]] = []
        self.watcher = Watcher(
            ClusterConfig(name="east", servers=(("zk", 2181),), chroot="/k"),
            notify=lambda _name, revision, touched: self.told.append((revision, touched)),
            wall=lambda: self.now,
        )
        self.source: Any = self.watcher._mirror

    @property
    def snapshot(self) -> Snapshot:
        found = snapshot_registry.current("east", self.now)
        assert found is not None
        return found

    def load(self, *trees: small.AnyTree) -> None:
        """A first load that ends live and proved."""
        self.source.proved_at = self.now
        changed = {path: read for tree in trees for path, read in tree.items()}
        self.watcher.batch(Batch(changed=changed, zxid=9, whole=True))
        self.watcher.session(Session(phase=Phase.LIVE))
        self.told.clear()

    def tick(self, seconds: float = 1.0, *, proved: bool = True) -> None:
        self.now += seconds
        if proved:
            self.source.proved_at = self.now
        self.watcher.tick(self.now)


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setattr("zkdash.live.watching.watcher.mirror.Mirror", Source)
    yield Scene()
    snapshot_registry.clear()


SOUND: tuple[small.AnyTree, ...] = (
    small.broker(1),
    small.controller(1),
    {"/cluster/id": small.json_(version="1", id="iAZYM0SaQ-elhe1rT4ifIg")},
    small.topic("orders", {0: [1]}),
    small.state("orders", 0, 1, [1]),
)


def test_before_the_first_load_a_cluster_is_there_and_knows_nothing(scene: Scene) -> None:
    assert scene.snapshot.revision == 1
    assert not scene.snapshot.state.loaded
    assert scene.snapshot.as_of is None
    assert scene.snapshot.stale
    assert scene.snapshot.findings == ()


def test_a_batch_becomes_one_revision_that_says_what_it_touched(scene: Scene) -> None:
    scene.load(*SOUND)
    before = scene.snapshot
    scene.watcher.batch(Batch(changed=small.state("orders", 0, -1, [1]), zxid=12))
    after = scene.snapshot
    assert (after.revision, after.state.revision) == (before.revision + 1, before.revision + 1)
    assert (after.state.zxid, after.state.counts.offline) == (12, 1)
    assert before.state.counts.offline == 0
    [(revision, touched)] = scene.told
    assert revision == after.revision
    assert touched.topics == {"orders"}
    assert "changes" in touched.areas


def test_the_first_load_is_no_change_and_later_changes_are_newest_first(scene: Scene) -> None:
    scene.load(*SOUND)
    assert [*scene.snapshot.feed.newest()] == []
    for leader in (-1, 1):
        scene.watcher.batch(Batch(changed=small.state("orders", 0, leader, [1]), zxid=12 + leader))
    first, second = (change.what for change in (*scene.snapshot.feed.newest(),)[:2])
    assert first != second
    assert "-1" not in first


def test_a_quiet_tick_moves_the_age_on_without_a_new_revision(scene: Scene) -> None:
    scene.load(*SOUND)
    before = scene.snapshot
    scene.tick()
    assert scene.snapshot.revision == before.revision
    assert scene.snapshot.as_of == scene.now
    assert scene.told == []


def test_a_group_that_moved_is_restless_for_eight_seconds_and_its_page_is_told_twice(scene: Scene) -> None:
    scene.load(*SOUND, small.group("billing", {"billing_h-1-00000000": ["orders"]}))
    owners = small.group("billing", {}, {"orders": [0]})
    scene.watcher.batch(Batch(changed=owners, zxid=12))
    assert scene.snapshot.restless == {"billing": int(scene.now * 1000)}
    for _ in range(9):
        scene.tick()
    assert scene.snapshot.restless == {}
    assert [touched.groups for _, touched in scene.told if "groups" in touched.areas] == [{"billing"}] * 2


def test_the_numbers_of_the_last_hour_are_sampled_every_ten_seconds_for_the_pages_that_show_them(
    scene: Scene,
) -> None:
    scene.load(*SOUND)
    scene.source.session = Session(phase=Phase.LIVE, zxid=100)
    scene.watcher.batch(Batch(changed=small.state("orders", 0, -1, [1]), zxid=12))
    for _ in range(10):
        scene.tick()
    scene.source.session = Session(phase=Phase.LIVE, zxid=150)
    scene.told.clear()
    for _ in range(10):
        scene.tick()
    first, second = scene.snapshot.recent
    assert (first.partitions, first.offline, first.leader_changes) == (1, 1, 1)
    assert (second.at - first.at, second.transactions) == (10, 5.0)
    assert [touched.areas for _, touched in scene.told if "recent" in touched.areas] == [{"recent"}]


def test_without_proof_for_three_seconds_the_state_is_stale_and_pages_are_told_once(scene: Scene) -> None:
    scene.load(*SOUND)
    for _ in range(6):
        scene.tick(proved=False)
    assert scene.snapshot.stale
    assert scene.snapshot.as_of == START
    assert [touched.areas for _, touched in scene.told] == [{"session"}]
    scene.tick()
    assert not scene.snapshot.stale
    assert len(scene.told) == 2


def test_during_a_catch_up_what_is_shown_stays_as_old_as_it_was(scene: Scene) -> None:
    scene.load(*SOUND)
    scene.watcher.session(Session(phase=Phase.LOADING))
    scene.tick(2.0)
    assert scene.snapshot.as_of == START
    scene.watcher.session(Session(phase=Phase.LIVE))
    scene.tick()
    assert scene.snapshot.as_of == scene.now


def test_a_watcher_that_hangs_looks_stale_all_the_same(scene: Scene) -> None:
    scene.load(*SOUND)
    scene.now += 60
    assert scene.snapshot.stale


def test_the_same_session_twice_is_one_revision(scene: Scene) -> None:
    for _ in range(2):
        scene.watcher.session(Session(phase=Phase.SUSPENDED, sentence="gone"))
    assert [touched.areas for _, touched in scene.told] == [{"session"}]


def test_a_check_is_raised_by_the_clock_alone(scene: Scene) -> None:
    scene.load(*SOUND)
    scene.watcher.batch(Batch(changed=small.state("orders", 0, -1, [1]), zxid=12))
    assert [*scene.snapshot.findings] == []
    assert scene.snapshot.state.counts.offline == 1
    for _ in range(3):
        scene.tick()
    assert "D1" in [finding.check for finding in scene.snapshot.findings]
    assert "D1" not in scene.snapshot.passing
    assert "findings" in scene.told[-1][1].areas


def test_acls_are_taken_over_at_a_tick_told_once_and_looked_at_by_the_checks(scene: Scene) -> None:
    acls = {"/brokers": (Acl(31, "world", "anyone"),), "/config": (Acl(31, "sasl", "kafka"),)}
    scene.load(*SOUND)
    assert scene.snapshot.acls == {}
    assert scene.snapshot.observations.looked["D52"].causes is None  # not known, which is no pass
    scene.watcher._surveying._poller.acls = acls
    for _ in range(3):
        scene.tick()
    assert scene.snapshot.acls == acls
    assert (scene.snapshot.observations.looked["D52"].causes or {}).keys() == {"/brokers"}
    assert ["acls" in touched.areas for _, touched in scene.told].count(True) == 1


def test_a_brokers_end_is_a_cause_with_the_revision_that_tells_of_it(scene: Scene) -> None:
    scene.load(*SOUND)
    scene.watcher.batch(Batch(changed=small.gone("/brokers/ids/1"), zxid=12))
    (cause,) = scene.snapshot.causes
    assert (cause.brokers, cause.carried.replicas, cause.carried.under_replicated) == ((1,), 1, 0)
    assert cause.incident is scene.snapshot.incidents.open[0]
    [(_, touched)] = scene.told
    assert {"findings", "changes"} <= touched.areas
    for _ in range(9):
        scene.tick()
    assert "D19" in scene.snapshot.causes[0].checks  # the others may still elect one
    scene.tick(5.0)
    scene.tick()
    assert "D19" not in scene.snapshot.causes[0].checks
    assert "D19" in [finding.check for finding in scene.snapshot.findings]


def test_owners_that_change_are_told_and_a_rebalance_ends_by_the_clock(scene: Scene) -> None:
    scene.load(*SOUND, small.group("g", {"g_host-1": ["orders"]}, {"orders": [0]}))
    scene.watcher.batch(Batch(changed=small.gone("/consumers/g/owners/orders/0"), zxid=12))
    (change,) = scene.snapshot.feed.newest()
    assert (change.what, change.before, change.after) == (
        "of group g 1 partition lost their owner",
        "1 partition owned",
        "0 partitions owned",
    )
    assert scene.snapshot.incidents.open[0].subject == "g"
    scene.tick(11.0)
    (over,) = scene.snapshot.incidents.ended
    assert over.ended == int(START * 1000)
