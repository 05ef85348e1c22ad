"""Groups of real old consumers, seen through zkdash: offsets and lag on the page, and the way to Kafka."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any

import pytest

from tests.kafka_live.sampling import Site, all_known, sampling
from tests.lab import tools
from tests.lab.cluster import Lab
from tests.lab.tools import NEW, OLD, Standing
from tests.serving import Serve, Served
from tests.waiting import wait_for as wait_often
from zkdash import configuration, live
from zkdash.cluster.analysis import migration
from zkdash.cluster.analysis.migration import Migration, Sample, Stage
from zkdash.cluster.model.groups import Group
from zkdash.live.watching.watcher import Watcher
from zkdash.zk import config

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

ZOOKEEPER = {"offsets_storage": "zookeeper"}
DUAL = {"offsets_storage": "kafka", "dual_commit_enabled": "true"}
KAFKA = {"offsets_storage": "kafka", "dual_commit_enabled": "false"}
# 0.8.2 tells commits of named topics only, and a group that keeps all in Kafka leaves none in ZooKeeper.
every_storage = pytest.mark.parametrize(
    ("release", "storage"),
    [
        ("0.8.2.2", ZOOKEEPER),
        ("0.8.2.2", DUAL),
        ("0.8.2.2", KAFKA),
        ("1.1.1", ZOOKEEPER),
        ("1.1.1", DUAL),
        ("1.1.1", KAFKA),
    ],
    indirect=["release"],
    scope="session",
    ids=[
        "0.8.2.2-zookeeper",
        "0.8.2.2-dual",
        "0.8.2.2-kafka",
        "1.1.1-zookeeper",
        "1.1.1-dual",
        "1.1.1-kafka",
    ],
)
has_new_consumer = pytest.mark.parametrize("release", ["1.1.1", "3.9.1"], indirect=True, scope="session")
oldest = pytest.mark.parametrize("release", ["0.8.2.2"], indirect=True, scope="session")

# So few are left unread that a reader has begun every partition: else it commits only to some of them.
MESSAGES = 400
READ = 380
# As many as a group reads at once that moves its offsets.
STEP = 10
LIMIT_S = 120.0
# Most looks are pages of a dashboard.
wait_for = partial(wait_often, every_s=0.05)
# What counts as "moves" in the walk below: much longer than it takes; its clock is put forward over it.
WINDOW_MS = 3_600_000

_numbers = count(1)


@pytest.fixture(scope="module")
def site(lab: Lab, release: str) -> Iterator[Site]:
    with sampling(lab, release) as site:
        yield site


@pytest.fixture
def topic(site: Site) -> str:
    """A topic of three partitions with messages."""
    name = f"grouped-{next(_numbers)}"
    site.create(name, 3)
    tools.produce(site.brokers[0], name, MESSAGES, keyed=True)
    return name


def printed(site: Site, group: str, topic: str) -> dict[int, Standing]:
    first = site.brokers[0]
    if first.release.version == "0.8.2.2":
        return tools.check_offsets(first, group, topic)
    return tools.describe_group(first, OLD, group, topic)


def told(rows: list[dict[str, Any]]) -> dict[int, Standing]:
    """The Group page's rows as a tool prints them: one offset, where the consumer would go on."""
    return {
        int(row["partition"]): Standing(
            row["offset"] if row["offset"] is not None else row["in_kafka"], row["log_end"], row["lag"]
        )
        for row in rows
    }


@every_storage
def test_the_group_page_tells_what_kafkas_own_tool_prints(
    site: Site, topic: str, dashboard: Served, storage: dict[str, Any]
) -> None:
    group = f"paged-{topic}"
    tools.consume(site.brokers[0], OLD, group, topic, READ, **storage)
    expected = printed(site, group, topic)
    wait_for(
        lambda: shown(dashboard, group) == expected,
        limit_s=LIMIT_S,
        message=lambda: (shown(dashboard, group), expected),
    )
    is_listed_with(dashboard, group, expected)


@has_new_consumer
def test_a_group_that_brokers_alone_know_is_told_as_kafkas_own_tool_prints_it(
    site: Site, topic: str, served: Serve
) -> None:
    group = f"modern-{topic}"
    tools.consume(site.brokers[0], NEW, group, topic, READ)
    expected = tools.describe_group(site.brokers[0], NEW, group, topic)
    # Of its own: who asked for the names of groups asks for them again after a minute only.
    page = served(ZKDASH_ZOOKEEPER=site.brokers[0].zookeeper)
    page.wait_until_loaded()
    wait_for(
        lambda: shown(page, group) == expected,
        limit_s=LIMIT_S,
        message=lambda: (shown(page, group), expected),
    )
    row = is_listed_with(page, group, expected)
    assert (row["kept_in"], row["state"], row["members"]) == ("Kafka", "empty", 0)


def shown(dashboard: Served, group: str) -> dict[int, Standing]:
    """The Group page's rows; none where zkdash has not heard of the group yet."""
    answer = dashboard.get(f"/c/default/groups/{group}/", Accept="application/json")
    return told(json.loads(answer.body)["rows"]) if answer.status == 200 else {}


def is_listed_with(dashboard: Served, group: str, expected: Mapping[int, Standing]) -> dict[str, Any]:
    """The row of Groups, once it tells the sum of what Kafka's own tool prints, and the largest of it."""
    lags = [standing.lag for standing in expected.values() if standing.lag is not None]

    def row() -> dict[str, Any]:
        rows = json.loads(dashboard.get(f"/c/default/groups/?format=json&q={group}").body)["rows"]
        return next((found for found in rows if found["name"] == group), {})

    def told() -> dict[str, Any] | None:
        listed = row()
        is_told = (listed.get("lag"), listed.get("worst_lag")) == (sum(lags), max(lags))
        return listed if is_told and listed["state"] is not None else None

    return wait_for(told, limit_s=LIMIT_S, message=lambda: (row(), expected))


@oldest
def test_a_real_group_walks_through_the_migration_by_the_documents_steps(
    lab: Lab, site: Site, topic: str
) -> None:
    """ZooKeeper alone; then offsets.storage=kafka with dual.commit.enabled=true; then without it."""
    walk = Walk(lab, site, topic)
    try:
        assert walk.reads(**ZOOKEEPER).stage is Stage.NOT_STARTED
        dual = walk.reads(**DUAL)
        assert dual.stage is Stage.DUAL_COMMIT
        assert dual.next_step
        assert "dual.commit.enabled=false" in dual.next_step
        # Offsets in ZooKeeper are frozen from here on, which shows once the window has passed over the last.
        walk.lets_the_window_pass()
        assert walk.reads(**KAFKA).stage is Stage.MOVED, walk.judged
    finally:
        walk.end()


class Walk:
    """A group whose consumer is started again and again with other options, sampled after each run."""

    def __init__(self, lab: Lab, site: Site, topic: str) -> None:
        self._site, self._topic, self._name = site, topic, f"moving-{topic}"
        environ = {"ZKDASH_ZOOKEEPER": lab.address(site.brokers[0].release.version)}
        (cluster,) = config.load(configuration.read(environ), environ)
        self._cluster = cluster.name
        self._watcher = Watcher(cluster, notify=lambda *_: None)
        self._watcher.start()
        self._ahead_ms = 0
        self._history: tuple[Sample, ...] = ()
        self.judged: Migration | None = None

    def reads(self, **options: str) -> Migration:
        """Let a consumer with these options read some messages, commit and end; judge what is then known."""
        first = self.judged is None
        tools.consume(self._site.brokers[0], OLD, self._name, self._topic, STEP, first=first, **options)
        self._site.ends(self._topic, all_known)
        held = self._in_zookeeper()
        group = wait_for(lambda: self._mirrored(held), limit_s=LIMIT_S, message=lambda: held)
        commits = self._site.commits(self._name, self._topic)
        sample = migration.sample(
            group,
            int(time.time() * 1000) + self._ahead_ms,
            {place: commit.offset for place, commit in commits.commits.items()},
        )
        self._history = migration.keep(self._history, sample, window_ms=WINDOW_MS)
        self.judged = migration.judge(self._history, window_ms=WINDOW_MS)
        return self.judged

    def lets_the_window_pass(self) -> None:
        """From here on it is later."""
        self._ahead_ms += WINDOW_MS

    def end(self) -> None:
        self._watcher.stop()
        live.clear()

    def _in_zookeeper(self) -> Mapping[str, int]:
        path = f"/consumers/{self._name}/offsets/{self._topic}"
        client = self._site.client
        return {n: int(client.get(f"{path}/{n}")[0]) for n in client.get_children(path)}

    def _mirrored(self, held: Mapping[str, int]) -> Group | None:
        """The group as zkdash holds it, once its offsets are those of ZooKeeper and its members are gone."""
        snapshot = live.current(self._cluster)
        group = snapshot.state.groups.get(self._name) if snapshot else None
        if group is None or group.members:
            return None
        offsets = {n: one.value for n, one in group.offsets.get(self._topic, {}).items()}
        return group if offsets == held else None
