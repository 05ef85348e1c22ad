"""Sizes of replicas asked for once at real brokers, beside the files on their disks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.kafka_live.sampling import Site, sampling
from tests.lab import tools
from tests.lab.cluster import Lab
from zkdash.broker import replica_sizes
from zkdash.broker.replica_sizes import Reason

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
