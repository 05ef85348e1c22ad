"""Sizes of replicas asked for once at real brokers, beside the files on their disks, and what these hold."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from tests.kafka_live.sampling import LIMIT_S, Site, sampling
from tests.lab import tools
from tests.lab.cluster import Lab
from tests.waiting import wait_for
from zkdash.broker import replica_sizes
from zkdash.broker.replica_sizes import Reason
from zkdash.configuration.log_dirs import LogDirs
from zkdash.formats.inspection.contents import contents
from zkdash.formats.inspection.replicas import ReplicaSegment, difference
from zkdash.pipeline.disks import directories
from zkdash.pipeline.disks.directories import Replica
from zkdash.pipeline.sources.segments import LogDirectory

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

PARTITIONS = 3


@pytest.fixture(scope="module")
def site(lab: Lab, release: str) -> Iterator[Site]:
    with sampling(lab, release) as site:
        yield site


def asked(site: Site, topic: str) -> Mapping[tuple[str, int], int | Reason]:
    site.create(topic, PARTITIONS)
    tools.produce(site.brokers[0], topic, 30)
    wanted = [(topic, number) for number in range(PARTITIONS)]
    return replica_sizes.ask(site.registered(), site.leaders, wanted)


@pytest.mark.parametrize("release", ["1.1.1", "3.9.1"], indirect=True, scope="session")
def test_a_replica_is_as_large_as_its_segments(site: Site) -> None:
    topic = "sized"
    sizes = asked(site, topic)
    leaders = site.leaders(topic) or {}
    by_id = {broker.id: broker for broker in site.brokers}
    on_disk = {
        (topic, number): sum(
            path.stat().st_size
            for path in (by_id[leader or 0].data_dir / "logs" / f"{topic}-{number}").glob("*.log")
        )
        for number, leader in leaders.items()
    }
    assert sizes == on_disk
    assert sum(on_disk.values())


@pytest.mark.parametrize("release", ["0.8.2.2"], indirect=True, scope="session")
def test_a_broker_that_knows_no_sizes_is_a_reason_and_no_zero(site: Site) -> None:
    for told in asked(site, "unsized").values():
        assert isinstance(told, Reason)
        assert told.sentence.endswith("(sizes are known to brokers from 1.0)")


@pytest.mark.parametrize("release", ["0.8.2.2", "3.9.1"], indirect=True, scope="session")
def test_replicas_on_the_disks_of_running_brokers_hold_the_same_up_to_the_logs_end(
    site: Site, tmp_path: Path
) -> None:
    topic, brokers = "mirrored", site.brokers
    brokers[0].create_topic(topic, replicas=len(brokers))
    wait_for(lambda: len(site.leaders(topic) or ()) == 1, LIMIT_S)
    tools.produce(brokers[0], topic, 30)
    (end,) = tools.log_offsets(brokers[0], topic, -1).values()
    logs = {broker.id: broker.data_dir / "logs" for broker in brokers}

    def replicas(places: Mapping[int, Path]) -> list[Replica]:
        named = (LogDirs(broker=broker, directories=(str(path),)) for broker, path in places.items())
        listing = directories.listing(directories.disks(named))
        return [replica for replica in listing.replicas if replica.topic == topic]

    def whole() -> list[Replica] | None:
        seen = replicas(logs)
        ends = [last_offset(replica) for replica in seen]
        return seen if ends == [end] * len(brokers) else None

    first, second, *_ = wait_for(whole, LIMIT_S)
    assert difference(opened(first), opened(second), 0, end) is None
    copy = tmp_path / "copy"
    shutil.copytree(logs[second.disk.broker or 0] / f"{topic}-0", copy / f"{topic}-0")
    path = copy / f"{topic}-0" / f"{0:020}.log"
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    (rotten,) = replicas({7: copy})
    differing = difference(opened(first), opened(rotten), 0, end)
    assert differing is not None
    assert 0 <= differing.offset < end
    assert differing.second == "holds an entry whose checksum does not hold"


def opened(replica: Replica) -> list[ReplicaSegment]:
    directory = LogDirectory(replica.disk.path)
    return [
        ReplicaSegment(each.base_offset, partial(directory.opened, each)) for each in replica.log.segments
    ]


def last_offset(replica: Replica) -> int:
    with LogDirectory(replica.disk.path).opened(replica.log.segments[-1]) as source:
        return contents(source, replica.log.segments[-1].base_offset).next_offset
