"""Log ends and group commits sampled at real brokers, beside what Kafka's own tools print of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from tests.kafka_live.sampling import GROUPS, LIMIT_S, Site, all_known, sampling, spans
from tests.lab import tools
from tests.lab.cluster import Lab
from tests.lab.tools import NEW, OLD, Standing, Storage
from tests.waiting import wait_for
from zkdash.broker.coordinators.retention import DAY, WEEK
from zkdash.broker.samples import GroupCommits, LogEnds, Retention
from zkdash.kafka.consumers import coordinators

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

# So few are left unread that a reader has begun every partition: else it commits only to some of them.
MESSAGES = 300
READ = 280

# the old consumer went with 2.0; records can be deleted since 0.11 (KIP-107), groups be listed since 0.9
has_old_consumer = pytest.mark.parametrize("release", ["0.8.2.2", "1.1.1"], indirect=True, scope="session")
has_newer_tools = pytest.mark.parametrize("release", ["1.1.1", "3.9.1"], indirect=True, scope="session")
every_consumer = pytest.mark.parametrize(
    ("release", "kind"),
    [("0.8.2.2", OLD), ("1.1.1", OLD), ("1.1.1", NEW), ("3.9.1", NEW)],
    indirect=["release"],
    scope="session",
)

NOT_TOLD = "brokers before 0.11 do not tell their configuration"

_numbers = count(1)


@pytest.fixture(scope="module")
def site(lab: Lab, release: str) -> Iterator[Site]:
    with sampling(lab, release) as site:
        yield site


@pytest.fixture
def own_topic(site: Site) -> str:
    """A topic of three partitions with messages, on all brokers."""
    return filled(site)


@pytest.fixture(scope="module")
def topic(site: Site) -> str:
    """The same, for tests that leave its log alone."""
    return filled(site)


def filled(site: Site) -> str:
    name = f"offsets-{next(_numbers)}"
    site.create(name, 3)
    tools.produce(site.brokers[0], name, MESSAGES, keyed=True)
    return name


def test_log_ends_are_what_kafkas_own_tool_prints(site: Site, own_topic: str) -> None:
    first, second, _ = site.brokers
    starts = tools.log_offsets(first, own_topic, -2)
    ends = tools.log_offsets(first, own_topic, -1)
    assert sum(ends.values()) == MESSAGES
    assert spans(site.ends(own_topic, all_known)) == {n: (starts[n], ends[n]) for n in ends}

    tools.produce(second, own_topic, 3)
    grown = site.ends(own_topic, lambda found: sum(end for _, end in spans(found).values()) == MESSAGES + 3)
    assert {n: end for n, (_, end) in spans(grown).items()} == tools.log_offsets(first, own_topic, -1)


@has_newer_tools
def test_the_start_of_a_log_moves_with_its_deleted_records(site: Site, own_topic: str) -> None:
    ends = tools.log_offsets(site.brokers[0], own_topic, -1)
    tools.delete_records(site.brokers[0], own_topic, {n: end // 2 for n, end in ends.items()})
    wanted = {n: (end // 2, end) for n, end in ends.items()}
    site.ends(own_topic, lambda found: spans(found) == wanted)


@every_consumer
def test_commits_in_kafka_are_what_kafkas_own_tools_print(site: Site, topic: str, kind: str) -> None:
    first = site.brokers[0]
    is_oldest = first.release.version == "0.8.2.2"
    group = f"{kind}-of-{topic}"
    in_kafka: Storage = {"offsets_storage": "kafka", "dual_commit_enabled": "false"}
    storage = in_kafka if kind == OLD else Storage()
    tools.consume(first, kind, group, topic, READ, **storage)
    if is_oldest:
        printed = tools.check_offsets(first, group, topic)
    else:
        printed = tools.describe_group(first, kind, group, topic)
    commits = site.commits(group, topic)
    site.ends(topic, all_known)
    # the new consumer of 1.1.1 commits what it fetched, not what was taken from it
    assert READ <= sum(commit.offset for commit in commits.commits.values()) <= MESSAGES
    assert commits.whole == (not is_oldest)
    assert standing(site, commits, topic) == printed


@has_old_consumer
def test_a_group_that_commits_to_zookeeper_has_none_in_kafka(site: Site, topic: str) -> None:
    first = site.brokers[0]
    group = f"zookeeper-of-{topic}"
    tools.consume(first, OLD, group, topic, READ)
    offsets = in_zookeeper(site, group, topic)
    assert sum(offsets.values()) == READ
    assert site.commits(group, topic).commits == {}

    site.ends(topic, all_known)
    lags = {n: site.sampler.samples.lag(topic, n, offset) for n, offset in offsets.items()}
    if first.release.version == "0.8.2.2":
        printed = tools.check_offsets(first, group, topic)
    else:
        printed = tools.describe_group(first, OLD, group, topic)
    assert {n: (offsets[n], lags[n]) for n in offsets} == {n: (p.offset, p.lag) for n, p in printed.items()}


@has_old_consumer
def test_a_dual_commit_shows_in_both(site: Site, topic: str) -> None:
    group = f"dual-of-{topic}"
    storage: Storage = {"offsets_storage": "kafka", "dual_commit_enabled": "true"}
    tools.consume(site.brokers[0], OLD, group, topic, READ, **storage)
    in_kafka = {n: commit.offset for (_, n), commit in site.commits(group, topic).commits.items()}
    assert sum(in_kafka.values()) == READ
    assert without_zeros(in_kafka) == without_zeros(in_zookeeper(site, group, topic))


def test_the_coordinator_computed_from_zookeeper_is_the_one_that_kafka_names(site: Site, topic: str) -> None:
    def computed() -> dict[str, int | None]:
        offsets = site.leaders(coordinators.OFFSETS_TOPIC)
        assert offsets
        return {group: offsets[coordinators.partition_of(group, len(offsets))] for group in GROUPS}

    def told() -> dict[str, int | None]:
        return {group: site.coordinator(group) for group in GROUPS}

    assert len({coordinators.partition_of(group, 4) for group in GROUPS}) == 4
    # where the topic was just made, brokers hear of its leaders one after the other
    wait_for(lambda: told() == computed(), LIMIT_S, lambda: (told(), computed()))


@has_newer_tools
def test_the_groups_that_brokers_name_are_what_kafkas_own_tool_lists(site: Site, topic: str) -> None:
    tools.consume(site.brokers[0], NEW, f"listed-{topic}", topic, 1)
    site.sampler.want_listing()
    listed = wait_for(lambda: site.sampler.samples.groups() if is_listed(site) else None, limit_s=LIMIT_S)
    assert f"listed-{topic}" in listed
    assert listed == tools.list_groups(site.brokers[0])


def test_how_long_a_coordinator_keeps_commits_is_what_its_release_has_by_default(
    site: Site, topic: str
) -> None:
    """KIP-186 and KIP-211. Before 0.11 there is no question for it."""
    group = GROUPS[0]
    site.sampler.want(groups={group: [topic]})
    retention = wait_for(lambda: site.sampler.samples.retentions.get(site.coordinator(group) or 0), LIMIT_S)
    expected = {
        "0.8.2.2": Retention(DAY, by_group=False, reason=NOT_TOLD),
        "0.10.2.2": Retention(DAY, by_group=False, reason=NOT_TOLD),
        "1.1.1": Retention(DAY, by_group=False, is_default=True),
        "2.8.2": Retention(WEEK, by_group=True, is_default=True),
        "3.9.1": Retention(WEEK, by_group=True, is_default=True),
    }
    assert retention == expected[site.brokers[0].release.version]


def is_listed(site: Site) -> bool:
    listings = site.sampler.samples.listings
    return len(listings) == len(site.brokers) and all(
        listing.groups is not None for listing in listings.values()
    )


def test_asking_about_what_does_not_exist_makes_no_topic(site: Site) -> None:
    before = set(site.client.get_children("/brokers/topics"))
    site.sampler.want(["not-there"], {"nobody": ["not-there"]})
    wait_for(lambda: site.sampler.samples.commits.get("nobody"), limit_s=LIMIT_S)
    assert set(site.client.get_children("/brokers/topics")) == before
    assert "not-there" not in site.sampler.samples.ends


def in_zookeeper(site: Site, group: str, topic: str) -> dict[int, int]:
    path = f"/consumers/{group}/offsets/{topic}"
    return {int(n): int(site.client.get(f"{path}/{n}")[0]) for n in site.client.get_children(path)}


def without_zeros(offsets: dict[int, int]) -> dict[int, int]:
    """A storage may hold 0 or nothing for a partition that was never read."""
    return {n: offset for n, offset in offsets.items() if offset}


def standing(site: Site, commits: GroupCommits, topic: str) -> dict[int, Standing]:
    """The group's rows as a tool prints them, from samples alone."""
    rows = {}
    for (committed, n), commit in commits.commits.items():
        assert committed == topic
        log = site.sampler.samples.log(topic, n)
        lag = site.sampler.samples.lag(topic, n, commit.offset)
        assert isinstance(log, LogEnds)
        assert isinstance(lag, int)
        rows[n] = Standing(commit.offset, log.end, lag)
    return rows
