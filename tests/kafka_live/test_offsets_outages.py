"""A real broker that hangs, dies and comes back; the sampler asks the other one all the while."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kafka_live.sampling import PACE, Site, all_known, sampling
from tests.lab import tools
from tests.lab.cluster import Lab
from tests.waiting import wait_for
from zkdash.broker.samples import LogEnds, Unknown

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

RELEASE = "3.9.1"
TOPIC = "outages"


@pytest.fixture
def site(lab: Lab) -> Iterator[Site]:
    """The sampler goes on with the leaders of the beginning: ZooKeeper tells it of no outage."""
    with sampling(lab, RELEASE) as site:
        site.create(TOPIC, 2)
        tools.produce(site.brokers[0], TOPIC, 10)
        leaders = {TOPIC: dict(site.leaders(TOPIC) or {})}
        assert set(leaders[TOPIC].values()) == {1, 2}
        site.sampler.update(site.registered(), leaders.get)
        yield site
        site.brokers[0].delete_topic(TOPIC)
        wait_for(lambda: not site.client.exists(f"/brokers/topics/{TOPIC}"), limit_s=20)


def led_by(site: Site, broker: int) -> int:
    return next(n for n, leader in (site.leaders(TOPIC) or {}).items() if leader == broker)


def told(site: Site, partition: int, expected: str | None, limit_s: float) -> LogEnds | Unknown:
    """A partition's sample, once it is known (None), or unknown with this reason."""

    def found() -> LogEnds | Unknown | None:
        site.sampler.want([TOPIC])
        sample = site.sampler.samples.log(TOPIC, partition)
        reason = sample.reason if isinstance(sample, Unknown) else None
        return sample if reason == expected else None

    return wait_for(found, limit_s=limit_s, message=lambda: site.sampler.samples.log(TOPIC, partition))


def is_asked_on(site: Site, partition: int) -> bool:
    """Whether a partition is sampled again and again, for longer than a request may take."""
    first = told(site, partition, None, limit_s=5)
    assert isinstance(first, LogEnds)

    def newer() -> bool:
        sample = told(site, partition, None, limit_s=0.5)
        return isinstance(sample, LogEnds) and sample.sampled_at > first.sampled_at + 2 * PACE.limit_s

    return wait_for(newer, limit_s=10)


def test_a_broker_that_hangs_costs_its_own_partitions_only_and_is_asked_again(site: Site) -> None:
    second = site.brokers[1]
    mine, others = led_by(site, 2), led_by(site, 1)
    before = site.ends(TOPIC, all_known)[mine]
    assert isinstance(before, LogEnds)
    second.pause()
    try:
        reason = f"cannot ask broker 2: no answer from {second.address} within {PACE.limit_s:g} s"
        unknown = told(site, mine, reason, limit_s=10)
        assert isinstance(unknown, Unknown)
        assert unknown.last
        assert (unknown.last.start, unknown.last.end) == (before.start, before.end)
        assert is_asked_on(site, others)
        assert set(site.sampler.samples.troubles) == {2}
    finally:
        second.resume()
    told(site, mine, None, limit_s=20)
    assert not site.sampler.samples.troubles
    wait_for(lambda: site.client.exists("/brokers/ids/2"), limit_s=20)


def test_a_dead_broker_is_asked_again_as_soon_as_it_registers(site: Site) -> None:
    second = site.brokers[1]
    mine, others = led_by(site, 2), led_by(site, 1)
    site.ends(TOPIC, all_known)
    second.kill()
    told(site, mine, f"cannot ask broker 2: connection refused at {second.address}", limit_s=10)
    second.start()
    site.sampler.update(site.registered(), {TOPIC: {others: 1, mine: 2}}.get)
    told(site, mine, None, limit_s=10)
