"""Messages that real brokers of each era send: those that were produced; no group notices."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count

import pytest

from tests.kafka_live.sampling import Site, sampling
from tests.lab import tools
from tests.lab.cluster import Lab
from tests.waiting import wait_for
from zkdash.broker.leaders_asked import Reason
from zkdash.broker.messages import asking
from zkdash.broker.messages.values import At, Before, Bounds, From, Last, Look, Place

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

EACH = 12
CODECS = ("none", "gzip", "snappy", "lz4")
OF_RELEASE = {"0.8.2.2": CODECS, "1.1.1": CODECS, "3.9.1": (*CODECS, "zstd")}
FORMATS = {"0.8.2.2": 0, "1.1.1": 2, "3.9.1": 2}

eras = pytest.mark.parametrize("release", list(OF_RELEASE), indirect=True, scope="session")
_numbers = count(1)


@pytest.fixture(scope="module")
def site(lab: Lab, release: str) -> Iterator[Site]:
    with sampling(lab, release) as site:
        yield site


def look(site: Site, topic: str, place: Place, most: int = 500) -> Look | Reason:
    return asking.ask(
        site.registered(),
        site.leaders,
        (topic, 0),
        place,
        Bounds(most, 8 << 20, 30.0),
        passes=lambda *_: True,
        keeps=True,
    )


def seen(site: Site, topic: str, place: Place, most: int = 500) -> Look:
    found = look(site, topic, place, most)
    assert isinstance(found, Look), found
    return found


def offsets(found: Look) -> list[int]:
    return [message.offset for message in found.messages]


@pytest.fixture
def topic(site: Site, release: str) -> str:
    """A topic with messages of every compression of the era, one after the other."""
    name = f"messages-{next(_numbers)}"
    site.create(name, 1)
    for codec in OF_RELEASE[release]:
        tools.produce(site.brokers[0], name, EACH, keyed=True, codec=codec)
    return name


@eras
def test_what_is_fetched_is_what_was_produced_and_no_group_notices(
    site: Site, release: str, topic: str
) -> None:
    group, broker = f"reads-{topic}", site.brokers[0]
    kind = tools.OLD if release == "0.8.2.2" else tools.NEW
    tools.consume(broker, kind, group, topic, 5)
    before = standing(site, release, group, topic)
    began = time.time() * 1000
    found = seen(site, topic, Last())
    assert standing(site, release, group, topic) == before
    codecs = OF_RELEASE[release]
    total = EACH * len(codecs)
    assert (found.start, found.end, found.begins, found.ends) == (0, total, 0, total)
    assert [
        (m.offset, m.key and m.key.kept, m.value and m.value.kept, m.batch.codec) for m in found.messages
    ] == [
        (EACH * at + n, b"%d" % n, b"message %d" % n, codec)
        for at, codec in enumerate(codecs)
        for n in range(EACH)
    ]
    assert {message.batch.magic for message in found.messages} == {FORMATS[release]}
    times = [message.timestamp for message in found.messages]
    if release == "0.8.2.2":
        assert set(times) == {None}
    else:
        assert all(at is not None and began - 600_000 < at <= began for at in times)


def standing(site: Site, release: str, group: str, topic: str) -> object:
    """What Kafka's own tools print of a group, and which groups there are."""
    broker = site.brokers[0]
    if release == "0.8.2.2":
        consumers = site.client.get_children("/consumers")
        return tools.check_offsets(broker, group, topic), sorted(consumers)
    return tools.describe_group(broker, tools.NEW, group, topic), tools.list_groups(broker)


@eras
def test_one_goes_on_and_back_from_any_offset(site: Site, release: str, topic: str) -> None:
    end = EACH * len(OF_RELEASE[release])
    assert offsets(seen(site, topic, Last(), 7)) == list(range(end - 7, end))
    middle = seen(site, topic, From(EACH - 3), 6)
    assert offsets(middle) == list(range(EACH - 3, EACH + 3))  # from one batch into the next
    assert offsets(seen(site, topic, From(middle.ends), 4)) == list(range(EACH + 3, EACH + 7))
    assert offsets(seen(site, topic, Before(middle.begins), 4)) == list(range(EACH - 7, EACH - 3))
    assert offsets(seen(site, topic, From(end))) == []


@eras
def test_a_time_begins_where_the_era_can_tell(site: Site, release: str, topic: str) -> None:
    moment = int(time.time() * 1000) + 1
    wait_for(lambda: time.time() * 1000 > moment + 1)
    tools.produce(site.brokers[0], topic, 3, keyed=True)
    before = EACH * len(OF_RELEASE[release])
    found = seen(site, topic, At(moment))
    if release == "0.8.2.2":
        assert offsets(found) == list(range(before + 3))  # the one segment, from its start
        assert found.notes == ("No segment of the log was complete by then: it begins with the first.",)
    else:
        assert offsets(found) == list(range(before, before + 3))


@pytest.mark.parametrize("release", ["0.8.2.2", "3.9.1"], indirect=True, scope="session")
def test_what_is_not_there_is_a_reason_and_is_not_made(site: Site) -> None:
    before = set(site.client.get_children("/brokers/topics"))
    assert look(site, "not-there", Last()) == Reason("there is no topic not-there")
    assert set(site.client.get_children("/brokers/topics")) == before
