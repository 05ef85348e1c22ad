"""Offsets asked for once at real brokers, beside what Kafka's own tool prints of them."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Iterator, Mapping
from itertools import count

import pytest

from tests.kafka_live.sampling import Site, sampling
from tests.lab import tools
from tests.lab.cluster import Lab
from tests.waiting import wait_for
from zkdash.broker import offsets_at
from zkdash.broker.offsets_at import EARLIEST, LATEST, Absent, At, Found, Reason

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

FIRST, SECOND = 30, 12

knows_times = pytest.mark.parametrize("release", ["1.1.1", "3.9.1"], indirect=True, scope="session")
knows_segments = pytest.mark.parametrize("release", ["0.8.2.2"], indirect=True, scope="session")
both_versions = pytest.mark.parametrize("release", ["0.8.2.2", "3.9.1"], indirect=True, scope="session")

_numbers = count(1)


@pytest.fixture(scope="module")
def site(lab: Lab, release: str) -> Iterator[Site]:
    with sampling(lab, release) as site:
        yield site


def asked(site: Site, topic: str, at: int, partitions: int = 3) -> Mapping[int, Found]:
    where = [(topic, number) for number in range(partitions)]
    found = offsets_at.ask(site.registered(), site.leaders, where, at)
    return {number: found[topic, number] for number in range(partitions)}


def filled(site: Site) -> tuple[str, int]:
    """A topic with messages before and after a moment, which is returned too."""
    name = f"moments-{next(_numbers)}"
    site.create(name, 3)
    tools.produce(site.brokers[0], name, FIRST)
    moment = int(time.time() * 1000) + 1
    wait_for(lambda: time.time() * 1000 > moment + 1)
    return name, moment


def test_both_ends_are_what_kafkas_own_tool_prints(site: Site) -> None:
    topic, _ = filled(site)
    for at, time_ in ((EARLIEST, -2), (LATEST, -1)):
        printed = tools.log_offsets(site.brokers[0], topic, time_)
        assert asked(site, topic, at) == {number: At(offset) for number, offset in printed.items()}


@knows_times
def test_a_moment_is_where_kafkas_own_tool_would_reset_a_group_to(site: Site) -> None:
    topic, moment = filled(site)
    before = tools.log_offsets(site.brokers[0], topic, -1)
    tools.produce(site.brokers[0], topic, SECOND)
    grown = tools.log_offsets(site.brokers[0], topic, -1)
    found = asked(site, topic, moment)
    # a partition that got nothing since has no message as late, for which the tool takes its end
    late = Absent("the log holds no message as late as that", LATEST)
    assert found == {n: At(before[n]) if grown[n] > before[n] else late for n in before}
    assert planned_reset(site, topic, moment) == {
        n: told.offset if isinstance(told, At) else grown[n] for n, told in found.items()
    }
    assert asked(site, topic, 0) == {n: At(0) if grown[n] else late for n in before}


@knows_segments
def test_a_broker_of_0_8_answers_a_moment_with_where_a_segment_begins(site: Site) -> None:
    topic, _ = filled(site)
    ends = tools.log_offsets(site.brokers[0], topic, -1)
    later = int(time.time() * 1000) + 3_600_000
    printed = tools.log_offsets(site.brokers[0], topic, later)
    assert printed == ends
    assert asked(site, topic, later) == {n: At(end, is_exact=False) for n, end in ends.items()}
    none = Absent("no segment of the log was complete by then", EARLIEST)
    assert asked(site, topic, 1_000) == dict.fromkeys(ends, none)


@both_versions
def test_what_does_not_exist_is_a_reason_and_is_not_made(site: Site) -> None:
    topic, moment = filled(site)
    before = set(site.client.get_children("/brokers/topics"))
    assert asked(site, "not-there", moment, 1) == {0: Reason("there is no topic not-there")}
    found = offsets_at.ask(site.registered(), lambda _: {7: 1}, [(topic, 7)], moment)
    assert found == {(topic, 7): Reason("it does not know this partition")}
    assert set(site.client.get_children("/brokers/topics")) == before


def planned_reset(site: Site, topic: str, moment_ms: int) -> dict[int, int]:
    """What kafka-consumer-groups would set a group to, by partition."""
    moment = datetime.datetime.fromtimestamp(moment_ms / 1000, datetime.UTC).replace(tzinfo=None)
    broker = site.brokers[0]
    printed = broker.run(
        broker.release.group_command,
        *("--bootstrap-server", broker.address, "--group", f"of-{topic}", "--topic", topic),
        *("--reset-offsets", "--dry-run", "--to-datetime", moment.isoformat(timespec="milliseconds")),
    )
    # 3.9 prints its table without line ends
    rows = re.findall(rf"\b{topic}\s+(\d+)\s+(\d+)", printed)
    return {int(partition): int(offset) for partition, offset in rows}
