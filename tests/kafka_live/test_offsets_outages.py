"""A real broker that hangs, dies and comes back; the sampler asks the other one all the while."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import pytest

from tests.kafka_live.sampling import PACE, Site, all_known, sampling
from tests.lab import tools
from tests.lab.cluster import Lab
from tests.lab.kafka import Broker
from tests.narrowing import known
from tests.waiting import wait_for
from zkdash.broker.samples import LogEnds, Unknown

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

of_the_newest = pytest.mark.parametrize("release", ["3.9.1"], indirect=True, scope="session")
LIMIT_S = 120.0

_numbers = count(1)


class Outage(NamedTuple):
    """A topic with a partition on a broker that will be troubled, `mine`, and one on another, `others`."""

    site: Site
    topic: str
    troubled: Broker
    mine: int
    others: int


@pytest.fixture
def outage(lab: Lab, release: str) -> Iterator[Outage]:
    """The sampler goes on with the leaders of the beginning: ZooKeeper tells it of no outage."""
    with sampling(lab, release) as site:
        topic = f"outages-{next(_numbers)}"
        site.create(topic, len(site.brokers))
        tools.produce(site.brokers[0], topic, 10)
        leaders = {partition: known(leader) for partition, leader in (site.leaders(topic) or {}).items()}
        troubled = site.brokers[-1]
        assert sorted(leaders.values()) == sorted(broker.id for broker in site.brokers)
        site.sampler.update(site.registered(), {topic: leaders}.get)
        site.ends(topic, all_known)
        by_broker = {broker: partition for partition, broker in leaders.items()}
        yield Outage(site, topic, troubled, by_broker[troubled.id], by_broker[site.brokers[0].id])


def told(outage: Outage, partition: int, expected: str | None) -> object:
    """A partition's sample, once it is known (None), or unknown with this reason."""

    def found() -> LogEnds | Unknown | None:
        outage.site.sampler.want([outage.topic])
        sample = outage.site.sampler.samples.log(outage.topic, partition)
        reason = sample.reason if isinstance(sample, Unknown) else None
        return sample if reason == expected else None

    return wait_for(
        found, limit_s=LIMIT_S, message=lambda: outage.site.sampler.samples.log(outage.topic, partition)
    )


def is_asked_on(outage: Outage, partition: int) -> bool:
    """Whether a partition is sampled again and again, for longer than a request may take."""
    first = told(outage, partition, None)
    assert isinstance(first, LogEnds)

    def newer() -> bool:
        sample = told(outage, partition, None)
        return isinstance(sample, LogEnds) and sample.sampled_at > first.sampled_at + 2 * PACE.limit_s

    return wait_for(newer, limit_s=LIMIT_S)


def troubled(outage: Outage) -> set[int]:
    """The brokers that the sampler cannot ask."""
    return set(outage.site.sampler.samples.troubles)


@of_the_newest
def test_a_broker_that_hangs_costs_its_own_partitions_only_and_is_asked_again(outage: Outage) -> None:
    before = outage.site.ends(outage.topic, all_known)[outage.mine]
    assert isinstance(before, LogEnds)
    outage.troubled.pause()
    try:
        reason = f"no answer from {outage.troubled.address} within {PACE.limit_s:g} s"
        unknown = told(outage, outage.mine, f"cannot ask broker {outage.troubled.id}: {reason}")
        assert isinstance(unknown, Unknown)
        assert unknown.last
        assert (unknown.last.start, unknown.last.end) == (before.start, before.end)
        assert is_asked_on(outage, outage.others)
        wait_for(lambda: troubled(outage) == {outage.troubled.id}, LIMIT_S, lambda: troubled(outage))
    finally:
        outage.troubled.resume()
    told(outage, outage.mine, None)
    wait_for(lambda: not troubled(outage), LIMIT_S, lambda: troubled(outage))


@of_the_newest
def test_a_dead_broker_is_asked_again_as_soon_as_it_registers(outage: Outage, lab: Lab) -> None:
    with lab.without(outage.troubled):
        refused = f"connection refused at {outage.troubled.address}"
        told(outage, outage.mine, f"cannot ask broker {outage.troubled.id}: {refused}")
    outage.site.follow()
    told(outage, outage.mine, None)
