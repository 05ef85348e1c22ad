"""`?at=` of real brokers in trouble: as the recorder tells it, as ZooKeeper's own logs do, and as both.

What a client read while the cluster rested is the truth: every page of that moment is held against it, and
what differs between two of them. A watcher misses what a znode was that changes twice before its watch is set
again, so that only at rest it saw all that there is.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from django.core.management import call_command
from django.test import Client
from kazoo.exceptions import NoNodeError

from tests import databases, full
from tests.history.recorder.test_recorder import checkpoint, recorded, rows
from tests.kafka_live.stage import LIMIT_S, Stage
from tests.lab.cluster import Lab
from tests.lab.old_consumers import OldConsumers
from tests.live.past import story
from tests.live.past.story import Dump
from tests.serving import starter
from tests.waiting import wait_for
from tests.web.conftest import _anonymous_read, _empty_board, _nothing_grows_stale
from tests.web.past.test_served_past import CLUSTER, STORY, Told, check_differences, check_pages
from tests.web.past.test_told_by_logs import load
from zkdash.cluster.plans import intents
from zkdash.cluster.plans.intents import OffsetAt
from zkdash.demo.zookeeper.server import Server
from zkdash.kafka import paths
from zkdash.kafka.values import Move
from zkdash.zk import config

__all__ = ["_anonymous_read", "_empty_board", "_nothing_grows_stale"]

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

TOPIC, PARTITIONS, GROUP = "troubled", 3, "troubled-readers"
# By whom a moment is told; ZooKeeper's logs are read by Spark, which starts for a full run only.
RECORDER, LOGS, BOTH = "recorder", "logs", "both"
SOURCES = full.pick((RECORDER,), (RECORDER, LOGS, BOTH))
ERAS = full.pick(("1.1.1",), ("1.1.1", "3.9.1"))
# The first moments of the story, or all.
MOMENTS = full.pick(6, 21)
# Of both, logs hold the moments up to this one, and the recorder tells the later ones.
COVERED: Final = 10
OFFSETS: Final = "/offsets/"
# What is not compared, as in STORY: what only who saw it come knows, here of members that just moved too; and
# where the recorder tells, of children that came and went at once, which nobody sees.
BY_LOGS: Final = {**STORY, "how-it-works": frozenset({"sentence"})}
BY_RECORDER: Final = {**BY_LOGS, "": frozenset({"cversion", "pzxid"})}


class Recording:
    """The tables of a recorder that has begun; a job may add to them what logs tell."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        first = checkpoint(directory)
        self._first = {row["path"]: (row["version"], row["data"]) for row in first if OFFSETS in row["path"]}

    def commits(self) -> dict[str, tuple[int, bytes | None]]:
        """Version and data of each offset, by its path, as the recorder has told it last."""
        kept = dict(self._first)
        told = (row for row in rows(self.directory) if row["source"] == "watch" and OFFSETS in row["path"])
        for row in sorted(told, key=lambda row: row["zxid_upto"]):
            if row["type"] == "delete":
                kept.pop(row["path"], None)
            else:
                kept[row["path"]] = row["version"], row["data"]
        return kept


@contextlib.contextmanager
def recording_of(directory: Path, address: str) -> Iterator[Recording]:
    with recorded(directory, address):
        yield Recording(directory)


of_eras = pytest.mark.parametrize("release", ERAS, indirect=True, scope="session")
by_sources = pytest.mark.parametrize("source", SOURCES)


@pytest.fixture(scope="session")
def told(  # noqa: PLR0917 - fixtures
    lab: Lab,
    zookeeper: Server,
    release: str,
    _migrated: Any,
    django_db_blocker: Any,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Mapping[str, Told]]:
    """An era's cluster that got into trouble, served by each source; what was read at each of its moments."""
    below = tmp_path_factory.mktemp("past")
    spark = request.getfixturevalue("spark") if full.is_full() else None
    address, (_, settings) = lab.address(release), _migrated("sqlite")
    _, chroot = config.parse_address(address)
    brokers = lab.brokers(release)
    histories = {source: below / source for source in SOURCES}
    with (
        django_db_blocker.unblock(),
        databases.using(settings),
        lab.client(release) as client,
    ):
        call_command("flush", verbosity=0, interactive=False, inhibit_post_migrate=True)
        with Stage(release, address, brokers, client, below / "stage") as stage:
            with OldConsumers(stage.old.release.version, below / "consumers") as consumers:
                with contextlib.ExitStack() as recording:
                    recordings = [
                        recording.enter_context(recording_of(histories[source] / CLUSTER, address))
                        for source in SOURCES
                        if source != LOGS
                    ]
                    dumps: list[Dump] = []
                    for name in itertools.islice(happenings(stage, consumers), MOMENTS):
                        dumps += [at_rest(name, stage, recordings)]
                        if spark and len(dumps) == COVERED:
                            load(spark, zookeeper.data_dir, histories[BOTH], chroot)
                assert len(dumps) == MOMENTS
                if spark:
                    load(spark, zookeeper.data_dir, histories[LOGS], chroot)
            lab.brokers(release)  # whatever the story has left
            forget(stage)
    with starter(below) as start:
        by = {}
        for source, history in histories.items():
            served = start(ZKDASH_ZOOKEEPER=address, ZKDASH_HISTORY=history, options=["--no-record"])
            served.wait_until_loaded()
            of_logs = {RECORDER: 0, LOGS: MOMENTS, BOTH: COVERED}[source]
            seen = [*dumps[:of_logs], *map(watched, dumps[of_logs:])]
            by[source] = Told(served, seen, history, address)
        yield by


def happenings(stage: Stage, consumers: OldConsumers) -> Iterator[str]:
    """What happens to the cluster, the name of each moment once it is there."""
    yield from trouble(stage, consumers)
    yield from changed(stage)


def trouble(stage: Stage, consumers: OldConsumers) -> Iterator[str]:
    """Brokers, the controller and members of a group come and go."""
    stage.topic(TOPIC, [[1, 2], [2, 3], [3, 1]], messages=30)
    yield "topic made"
    stage.last.die()
    stage.settle()
    yield "broker killed"
    stage.start(stage.last)
    yield "broker came back"
    stage.act(intents.ReelectController())
    stage.settle()
    yield "controller moved"
    consumers.join("one", stage.first.zookeeper, GROUP, {TOPIC: 2})
    yield "group came"
    consumers.join("two", stage.first.zookeeper, GROUP, {TOPIC: 1})
    wait_for(lambda: owners(stage) == 2, LIMIT_S)
    yield "group rebalanced"
    consumers.leave("one")
    wait_for(lambda: owners(stage) == 1, LIMIT_S)
    yield "member left"
    consumers.leave("two")
    yield "group left"


def changed(stage: Stage) -> Iterator[str]:
    """What its operators change then."""
    stage.act(intents.ChangeConfig(TOPIC, {"retention.ms": "600000", "cleanup.policy": "delete"}))
    yield "config changed"
    stage.act(intents.ChangeConfig(TOPIC, {"retention.ms": "700000"}, ("cleanup.policy",)))
    yield "config changed again"
    acls(stage, "--add", "--allow-principal", "User:alice", "--operation", "Read", "--topic", TOPIC)
    yield "ACL added"
    acls(stage, "--remove", "--force", "--topic", TOPIC)
    yield "ACL removed"
    stage.act(intents.Reassign((Move(TOPIC, 0, (3, 2)), Move(TOPIC, 1, (1, 2, 3)))))
    stage.look()
    yield "replicas moved"
    stage.act(intents.AddPartitions(TOPIC, 5))
    stage.look()
    yield "partitions added"
    stage.act(intents.ResetOffsets(GROUP, (OffsetAt(TOPIC, "0", 3),)))
    yield "offsets reset"
    stage.last.stop()
    stage.settle()
    yield "broker stopped"
    stage.start(stage.last)
    yield "broker started"
    stage.act(intents.ElectPreferred((TOPIC,)))
    stage.look()
    yield "preferred replicas elected"
    stage.act(intents.DeleteTopic(TOPIC))
    stage.gone(paths.topic(TOPIC))
    yield "topic deleted"
    stage.topic(TOPIC, [[2, 1], [3, 1]], messages=3)
    stage.look()
    yield "topic made anew"
    stage.act(intents.DeleteGroup(GROUP))
    yield "group deleted"


def forget(stage: Stage) -> None:
    """Leave nothing of the story in the era's cluster, and all that is another test's."""
    if stage.exists(paths.topic(TOPIC)):
        stage.delete({TOPIC})
    if stage.exists(paths.group(GROUP)):
        stage.client.delete(paths.group(GROUP), recursive=True)


def owners(stage: Stage) -> int:
    """How many members of the group own a partition, each partition having an owner."""
    parts = [paths.owner(GROUP, TOPIC, str(number)) for number in range(PARTITIONS)]
    try:
        held = [stage.client.get(part)[0] for part in parts]
    except NoNodeError:
        return 0
    return len({data.rpartition(b"-")[0] for data in held})


def acls(stage: Stage, *asked: str) -> None:
    """Ask Kafka's own tool, which writes to ZooKeeper by the authorizer's class."""
    connect = f"zookeeper.connect={stage.first.zookeeper}"
    stage.first.run("kafka.admin.AclCommand", "--authorizer-properties", connect, *asked)


def at_rest(name: str, stage: Stage, recordings: list[Recording]) -> Dump:
    """The tree after a transaction that nothing of it changed since, all of it recorded."""

    def commits_are_recorded() -> bool:
        znodes = story.dump(name, stage.client).znodes.items()
        commits = {path: (znode.version, znode.data) for path, znode in znodes if OFFSETS in path}
        return all(recording.commits() == commits for recording in recordings)

    def read() -> Dump | None:
        # They come up to a second later than all else, as of the transaction that is seen next: here it is.
        wait_for(commits_are_recorded, LIMIT_S)
        zxid = stage.client.set("/admin", b"").mzxid
        for recording in recordings:
            story.until_recorded(recording.directory, zxid)
        _, root = stage.client.get("/")
        dump = story.dump(name, stage.client, [f"/{child}" for child in stage.client.get_children("/")])
        stats = [znode.stat for znode in dump.znodes.values()]
        newest = max(root.pzxid, *(max(stat.mzxid, stat.pzxid) for stat in stats))
        return msgspec.structs.replace(dump, zxid=zxid) if newest == zxid else None

    return wait_for(read, LIMIT_S)


def watched(dump: Dump) -> Dump:
    """What of it is below Kafka's znodes: whoever reads logs knows zkdash's own too."""
    roots = tuple(f"{root}/" for root in paths.ROOTS)
    kept = {path: znode for path, znode in dump.znodes.items() if f"{path}/".startswith(roots)}
    return msgspec.structs.replace(dump, znodes=kept)


@of_eras
@by_sources
def test_every_page_is_as_it_was_read_then(told: Mapping[str, Told], source: str, client: Client) -> None:
    for number, dump in enumerate(told[source].dumps):
        by_logs = source == LOGS or (source == BOTH and number < COVERED)
        teller, but_for = (LOGS, BY_LOGS) if by_logs else (RECORDER, BY_RECORDER)
        assert check_pages(told[source], dump, client, but_for) == {teller}


@of_eras
@by_sources
def test_the_differences_of_two_moments_are_those_of_their_dumps(
    told: Mapping[str, Told], source: str
) -> None:
    pairs = [*itertools.combinations(told[source].dumps, 2)]
    for before, after in full.pick(pairs[::4], pairs):
        check_differences(told[source], before, after)
