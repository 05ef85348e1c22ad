"""The sampler beside brokers that answer well, badly or never."""

from __future__ import annotations

import asyncio
import resource
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

import immutables
import msgspec
import pytest
from kafka.protocol.admin import DescribeGroupsRequest, DescribeGroupsResponse, ListGroupsResponse
from kafka.protocol.consumer import ConsumerProtocolAssignment, OffsetFetchRequest, OffsetFetchResponse

from tests.broker.listening import LIST_OFFSETS, Asked, Behaviour, Listening, ends, framed
from tests.waiting import wait_for
from zkdash.broker.breaker import FIRST_S
from zkdash.broker.ledger import Ledger, Moved, Sampled
from zkdash.broker.pace import Pace
from zkdash.broker.peer import BATCH
from zkdash.broker.resolver import addresses
from zkdash.broker.rounds import Needs, Rounds
from zkdash.broker.sampler import Sampler
from zkdash.broker.samples import (
    NOT_YET,
    Description,
    GroupCommits,
    GroupMember,
    Listing,
    LogEnds,
    Unknown,
    UnknownCommits,
)
from zkdash.demo.runtime import ports
from zkdash.kafka.consumers import coordinators
from zkdash.kafka.values import Broker, Layout

# A broker that answers at all does so in time, however many partitions it is asked about and however busy the
# machine is: an answer that came too late would be asked for no more while the clock stands.
PACE = Pace(every_s=1.0, slow_s=60.0, limit_s=60.0, tick_s=0.005, announce_s=0.0)
# Of brokers and resolvers that say nothing.
IMPATIENT = msgspec.structs.replace(PACE, limit_s=3.0)
T = "orders"
OFFSET_FETCH = 9
GOOD = ends(lambda partition: 100 + partition)

TOO_LONG = (
    "cannot ask broker 2: {} announces an answer of {} bytes, where 4 to 38 belong: is it a Kafka broker?"
)

Leaders = Mapping[str, Mapping[int, int | None]]


class Cluster:
    """Brokers made of listening servers, a sampler that knows them, and its clock."""

    def __init__(
        self, stack: ExitStack, lookup: Callable[[str], list[str]] | None = None, pace: Pace = PACE
    ) -> None:
        self.now = 1_000.0
        self.moved: list[Moved] = []
        self._stack = stack
        self.sampler = Sampler(
            "test",
            on_change=self.moved.append,
            pace=pace,
            clock=lambda: self.now,
            wall=lambda: self.now,
            lookup=lookup or addresses,
        )
        self.sampler.start()
        stack.callback(self.sampler.stop)

    def listening(self, behaviour: Behaviour, **arguments: object) -> Listening:
        return self._stack.enter_context(Listening(behaviour, **arguments))  # type: ignore[arg-type]

    def update(self, brokers: Mapping[int, Broker], leaders: Leaders) -> None:
        self.sampler.update(immutables.Map(brokers), immutables.Map(leaders).get, leaders)

    def later(self, seconds: float = PACE.every_s) -> None:
        """Let time pass, and look again."""
        self.now += seconds
        self.sampler.want([T])

    def log(self, partition: int) -> LogEnds | Unknown:
        return self.sampler.samples.log(T, partition)

    def reason(self, partition: int) -> str:
        """Why a partition is unknown, once it is for another reason than that nobody was asked yet."""

        def told() -> str:
            found = self.log(partition)
            return found.reason if isinstance(found, Unknown) and found.reason != NOT_YET else ""

        return wait_for(told, message=lambda: self.log(partition))

    def known(self, partition: int) -> LogEnds:
        """A partition's ends as of now."""

        def told() -> LogEnds | None:
            found = self.log(partition)
            return found if isinstance(found, LogEnds) and found.sampled_at == self.now else None

        return wait_for(told, message=lambda: self.log(partition))


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack)


@pytest.fixture
def impatient() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack, pace=IMPATIENT)


def at(number: int, port: int, host: str = "127.0.0.1", timestamp: int = 0) -> Broker:
    text = f"PLAINTEXT://{host}:{port}"
    return Broker(number, Layout.V08, host, port, version=4, endpoints=(text,), timestamp=timestamp)


def test_nothing_is_known_or_asked_before_somebody_wants_it(cluster: Cluster) -> None:
    server = cluster.listening(GOOD)
    cluster.update({1: at(1, server.port)}, {T: {0: 1}})
    assert cluster.log(0) == Unknown(NOT_YET)
    cluster.later()
    assert cluster.known(0) == LogEnds(0, 100, cluster.now)
    assert len(server.requests) == 2


def test_lag_keeps_its_sign_and_unknown_is_not_zero(cluster: Cluster) -> None:
    server = cluster.listening(GOOD)
    cluster.update({1: at(1, server.port)}, {T: {0: 1}})
    cluster.later()
    cluster.known(0)
    samples = cluster.sampler.samples
    assert [samples.lag(T, 0, offset) for offset in (90, 100, 130)] == [10, 0, -30]
    assert samples.lag(T, 1, 0) == Unknown(NOT_YET)


def test_a_sample_stays_with_its_age_and_only_what_moved_is_announced(cluster: Cluster) -> None:
    end = [100]
    server = cluster.listening(ends(lambda _: end[0]))
    cluster.update({1: at(1, server.port)}, {T: {0: 1}})
    cluster.later()
    cluster.known(0)
    wait_for(lambda: cluster.moved)
    cluster.later()
    cluster.known(0)
    end[0] = 101
    cluster.later()
    assert cluster.known(0).end == 101
    wait_for(lambda: len(cluster.moved) > 1)
    assert cluster.moved == [Moved(topics=frozenset({T}))] * 2


def test_partitions_without_a_way_to_ask_say_why(cluster: Cluster) -> None:
    tls = Broker(3, Layout.V08, None, -1, version=4, endpoints=("SSL://a:9093",))
    cluster.update({3: tls}, {T: {0: None, 1: -1, 2: 7, 3: 3}})
    cluster.later()
    assert cluster.reason(0) == cluster.reason(1) == "no leader"
    assert cluster.reason(2) == "no leader: broker 7, its last, is not registered"
    assert cluster.reason(3) == "cannot ask broker 3: it offers only SSL (SSL://a:9093)"
    assert dict(cluster.sampler.samples.troubles) == {3: cluster.reason(3)}


def test_what_a_topic_no_longer_has_is_dropped(cluster: Cluster) -> None:
    server = cluster.listening(GOOD)
    brokers = {1: at(1, server.port)}
    cluster.update(brokers, {T: {0: 1, 1: 1}})
    cluster.later()
    cluster.known(1)
    cluster.update(brokers, {T: {0: 1}})
    cluster.later()
    wait_for(lambda: cluster.log(1) == Unknown(NOT_YET))
    cluster.known(0)  # answered: what is on its way tells of the topic once more, until the next round
    cluster.update(brokers, {})
    cluster.later()
    wait_for(lambda: T not in cluster.sampler.samples.ends)


def hostile(seen: str) -> Behaviour:
    def answer(asked: Asked) -> bytes | None:
        return {
            "a web server": b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "two GiB": struct.pack("!i", 2**31 - 1),
            "less than nothing": struct.pack("!i", -1),
            "silence": None,
            "a closed door": b"",
            "half an answer": framed(asked, b"\0" * 8)[:-3],
            "another answer": framed(asked._replace(correlation=asked.correlation + 1), b"\0" * 8),
            "nonsense": framed(asked, b"\0\0\0\1\xff\xfe\xfd\xfc"),
            "an endless list": framed(asked, struct.pack("!i", 2**31 - 1)),
            "no list": framed(asked, struct.pack("!i", -1)),
            "no text": framed(asked, b"\0\0\0\1\0\2\xff\xff\0\0\0\0"),
        }[seen]

    return answer


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (
            "a web server",
            TOO_LONG.format("{}", 1213486160),
        ),
        (
            "two GiB",
            TOO_LONG.format("{}", 2147483647),
        ),
        (
            "less than nothing",
            TOO_LONG.format("{}", -1),
        ),
        ("silence", "cannot ask broker 2: no answer from {} within 3 s"),
        ("a closed door", "cannot ask broker 2: {} closed the connection"),
        ("half an answer", "cannot ask broker 2: no answer from {} within 3 s"),
        ("another answer", "cannot ask broker 2: {} answers another question than was asked"),
        ("nonsense", "cannot ask broker 2: {} answers with bytes that are no Kafka answer"),
        ("an endless list", "cannot ask broker 2: {} answers with bytes that are no Kafka answer"),
        ("no list", "broker 2: its answer leaves this partition out"),
        ("no text", "cannot ask broker 2: {} answers with bytes that are no Kafka answer"),
    ],
)
def test_a_hostile_server_costs_its_reason_only(impatient: Cluster, seen: str, reason: str) -> None:
    good, bad = impatient.listening(GOOD), impatient.listening(hostile(seen))
    impatient.update({1: at(1, good.port), 2: at(2, bad.port)}, {T: {0: 1, 1: 2}})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    impatient.later()
    assert impatient.reason(1) == reason.format(f"127.0.0.1:{bad.port}")
    assert impatient.known(0).end == 100
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10  # KiB


def test_an_answer_about_other_partitions_adds_nothing(cluster: Cluster) -> None:
    def other(asked: Asked) -> bytes | None:
        return GOOD(asked._replace(body=asked.body.replace(b"orders", b"secret")))

    server = cluster.listening(other)
    cluster.update({1: at(1, server.port)}, {T: {0: 1}})
    cluster.later()
    assert cluster.reason(0) == "broker 1: its answer leaves this partition out"
    assert set(cluster.sampler.samples.ends) == {T}


def _says(cluster: Cluster, words: str) -> Callable[[], bool]:
    """Whether partition 1 is unknown for a reason of these words: its broker failed, and that was counted."""
    return lambda: words in cluster.reason(1)


def test_a_broker_that_failed_twice_is_left_alone_and_then_asked_again(cluster: Cluster) -> None:
    good, bad = cluster.listening(GOOD), cluster.listening(hostile("a closed door"))
    cluster.update({1: at(1, good.port), 2: at(2, bad.port)}, {T: {0: 1, 1: 2}})
    for seen, words in (("a closed door", "closed the connection"), ("another answer", "another question")):
        bad.behaviour = hostile(seen)
        cluster.later()
        cluster.known(0)
        wait_for(_says(cluster, words))
    reason = cluster.reason(1)
    bad.behaviour = GOOD
    for _ in range(3):
        cluster.later()
        cluster.known(0)
        assert cluster.reason(1) == reason
    assert bad.connections == 2

    cluster.later(FIRST_S)
    assert cluster.known(1).end == 101
    assert not cluster.sampler.samples.troubles


def test_a_new_registration_is_asked_at_once_whatever_the_breaker_said(cluster: Cluster) -> None:
    (port,) = ports.free()
    cluster.update({2: at(2, port)}, {T: {0: 2}})
    for _ in range(3):
        cluster.later()
        assert cluster.reason(0) == f"cannot ask broker 2: connection refused at 127.0.0.1:{port}"
    cluster.listening(GOOD, port=port)
    cluster.update({2: at(2, port, timestamp=1)}, {T: {0: 2}})
    cluster.later()
    assert cluster.known(0).end == 100


def test_a_connection_that_the_broker_closed_while_idle_is_no_trouble(cluster: Cluster) -> None:
    server = cluster.listening(GOOD, closes=True)
    cluster.update({1: at(1, server.port)}, {T: {0: 1}})
    for _ in range(4):
        cluster.later()
        cluster.known(0)
    assert len({moved.brokers for moved in cluster.moved}) == 1


def test_a_name_that_does_not_resolve_in_time_holds_up_nobody() -> None:
    released = threading.Event()

    def hangs(host: str) -> list[str]:
        released.wait(60)
        return []

    with ExitStack() as stack:
        stack.callback(released.set)
        cluster = Cluster(stack, lookup=hangs, pace=IMPATIENT)
        good = cluster.listening(GOOD)
        cluster.update({1: at(1, good.port), 2: at(2, 9092, host="advertised")}, {T: {0: 1, 1: 2}})
        cluster.later()
        assert cluster.known(0).end == 100
        assert cluster.reason(1) == "cannot ask broker 2: no connection to advertised:9092 within 3 s"


def test_it_stops_at_once_while_a_broker_is_silent() -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack)
        server = cluster.listening(hostile("silence"))
        cluster.update({1: at(1, server.port)}, {T: {0: 1}})
        cluster.later()
        wait_for(lambda: server.requests)
        cluster.sampler.stop()
        assert "sampler test" not in {thread.name for thread in threading.enumerate()}


def test_without_an_offsets_topic_a_group_is_known_to_have_no_commit_and_nobody_is_asked(
    cluster: Cluster,
) -> None:
    server = cluster.listening(GOOD)
    cluster.update({1: at(1, server.port)}, {T: {0: 1}})
    cluster.sampler.want(groups={"billing": [T]})
    told = wait_for(lambda: cluster.sampler.samples.commits.get("billing"))
    assert isinstance(told, GroupCommits)
    assert (told.coordinator, told.commits, told.whole) == (None, {}, True)
    cluster.update({1: at(1, server.port)}, {T: {0: 1}, coordinators.OFFSETS_TOPIC: {}})
    cluster.later()
    wait_for(lambda: isinstance(cluster.sampler.samples.commits["billing"], UnknownCommits))
    # Where the logs of the group's topic end may have been asked meanwhile, and nothing else.
    assert {one.key for one in server.requests} <= {LIST_OFFSETS}


def committed(offsets: Mapping[tuple[str, int], int]) -> Behaviour:
    """Answer OffsetFetch version 1 as 0.8.2 does, of the partitions that are named; log ends are 100."""

    def answer(asked: Asked) -> bytes | None:
        if asked.key == LIST_OFFSETS:
            return ends(lambda _: 100)(asked)
        assert (asked.key, asked.version) == (OFFSET_FETCH, 1)
        request = OffsetFetchRequest.decode(asked.body, version=1)
        of_topic = OffsetFetchResponse.OffsetFetchResponseTopic
        of_partition = of_topic.OffsetFetchResponsePartition
        topics = [
            of_topic(
                name=topic.name,
                partitions=[
                    of_partition(
                        partition_index=number,
                        committed_offset=offsets.get((topic.name, number), -1),
                        metadata="",
                        error_code=0 if (topic.name, number) in offsets else 3,
                    )
                    for number in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
        return framed(asked, OffsetFetchResponse(topics=topics).encode(version=1))

    return answer


OFFSETS = {coordinators.OFFSETS_TOPIC: {0: 1}}


def test_a_group_of_which_no_topic_is_known_is_asked_about_all_where_only_named_ones_are_told(
    cluster: Cluster,
) -> None:
    """As one that keeps its offsets in Kafka and has no members: nothing in ZooKeeper names a topic of it."""
    server = cluster.listening(committed({("clicks", 1): 7}))
    old = Broker(1, Layout.V08, "127.0.0.1", server.port, version=1)
    topics = {T: {0: 1, 1: 1}, "clicks": {0: 1, 1: 1}, **OFFSETS}
    cluster.update({1: old}, topics)
    cluster.sampler.want(groups={"billing": ()})
    told = wait_for(lambda: cluster.sampler.samples.commits.get("billing"))
    assert isinstance(told, GroupCommits)
    assert {place: one.offset for place, one in told.commits.items()} == {("clicks", 1): 7}
    assert told.whole
    # All topics again only as slowly as whoever nobody looks at: without members nothing is committed.
    cluster.sampler.want([T], groups={"billing": ()})
    cluster.later()
    cluster.known(0)
    assert sum(one.key == OFFSET_FETCH for one in server.requests) == 1
    server.behaviour = committed({(T, 0): 9})
    cluster.now += PACE.slow_s
    cluster.sampler.want(groups={"billing": ()})

    def moved() -> bool:
        known = cluster.sampler.samples.commits["billing"]
        return isinstance(known, GroupCommits) and known.commits.keys() == {(T, 0)}

    wait_for(moved)


def test_where_there_are_too_many_partitions_to_ask_about_not_all_of_a_groups_offsets_are_told(
    cluster: Cluster,
) -> None:
    server = cluster.listening(committed({("a", 0): 7, ("b", PACE.sweep): 7}))
    old = Broker(1, Layout.V08, "127.0.0.1", server.port, version=1)
    many = dict.fromkeys(range(PACE.sweep + 1), 1)
    cluster.update({1: old}, {"a": {0: 1}, "b": many, **OFFSETS})
    cluster.sampler.want(groups={"billing": ()})
    told = wait_for(lambda: cluster.sampler.samples.commits.get("billing"))
    assert isinstance(told, GroupCommits)
    assert told.commits.keys() == {("a", 0)}
    assert not told.whole
    asked = [OffsetFetchRequest.decode(one.body, version=1) for one in server.requests]
    counts = [sum(len(topic.partition_indexes) for topic in one.topics) for one in asked]
    assert sum(counts) == PACE.sweep
    assert max(counts) == BATCH


def test_before_the_topics_are_known_no_group_is_said_to_have_no_commit() -> None:
    needs, ledger = Needs(), Ledger(lambda: 1.0)
    rounds = Rounds(needs, ledger, pace=PACE, clock=lambda: 1.0, wall=lambda: 1.0, lookup=addresses)
    needs.wanted.append(([], {"billing": [T]}))
    asyncio.run(rounds.tick())
    assert not ledger.samples.commits
    needs.world = {}, immutables.Map[str, Mapping[int, int | None]]({T: {0: 1}}).get, [T]
    asyncio.run(rounds.tick())
    assert ledger.samples.commits["billing"] == GroupCommits(None, {}, 1.0)


def test_a_broker_lists_its_groups_where_its_release_can(cluster: Cluster) -> None:
    def listing(asked: Asked) -> bytes:
        group = ListGroupsResponse.ListedGroup
        found = [group(group_id=name, protocol_type="consumer") for name in ("billing", "audit")]
        return framed(asked, ListGroupsResponse(error_code=0, groups=found).encode(version=0))

    good, closed = cluster.listening(listing), cluster.listening(hostile("a closed door"))
    old = Broker(3, Layout.V08, "127.0.0.1", good.port, version=1)
    cluster.update({1: at(1, good.port), 2: at(2, closed.port), 3: old}, {})
    cluster.sampler.want_listing()
    wait_for(lambda: len(cluster.sampler.samples.listings) == 3)
    samples = cluster.sampler.samples
    assert samples.groups() == {"billing", "audit"}
    assert samples.listings[1] == Listing(frozenset({"billing", "audit"}), cluster.now)
    assert samples.listings[2].reason == (
        f"cannot ask broker 2: 127.0.0.1:{closed.port} closed the connection"
    )
    assert samples.listings[3].reason == "brokers before 0.9 do not tell which groups they know"

    cluster.update({1: at(1, good.port)}, {})
    wait_for(lambda: set(cluster.sampler.samples.listings) == {1})


def test_a_broker_that_comes_while_somebody_looks_is_asked_for_its_groups_at_once() -> None:
    with ExitStack() as stack:
        server = stack.enter_context(Listening(_groups_of_kafka))
        turns: list[Sampled] = []
        sampler = Sampler(
            "test", on_change=lambda _: None, on_samples=turns.append, pace=PACE, clock=lambda: 1.0
        )

        def come(*brokers: Broker) -> None:
            known = {broker.id: broker for broker in brokers}
            sampler.update(immutables.Map(known), lambda _: None, {})
            wait_for(lambda: set(sampler.samples.listings) == set(known))

        def asked() -> int:
            return [one.key for one in server.requests].count(ListGroupsResponse.API_KEY)

        sampler.want_listing()
        sampler.start()
        stack.callback(sampler.stop)
        wait_for(lambda: turns)  # in which there was nobody to ask
        come(at(1, server.port))
        assert sampler.samples.groups() == {"billing", "sinks"}
        come(at(1, server.port), at(2, server.port))
        assert asked() == 2
        come(at(1, server.port, timestamp=1), at(2, server.port))
        wait_for(lambda: asked() == 3)


def _groups_of_kafka(asked: Asked) -> bytes:
    """A broker with two groups: one at work, and one that is Kafka Connect's."""
    if asked.key == ListGroupsResponse.API_KEY:
        listed = ListGroupsResponse.ListedGroup
        groups = [listed(group_id=name, protocol_type="consumer") for name in ("billing", "sinks")]
        return framed(asked, ListGroupsResponse(error_code=0, groups=groups).encode(version=0))
    assert (asked.key, asked.version) == (DescribeGroupsResponse.API_KEY, 0)
    request = DescribeGroupsRequest.decode(asked.body, version=0)
    group = DescribeGroupsResponse.DescribedGroup
    assigned = ConsumerProtocolAssignment.TopicPartition(topic=T, partitions=[0, 2])
    written = ConsumerProtocolAssignment(assigned_partitions=[assigned], user_data=b"").encode(version=0)
    described = [
        group(
            error_code=0,
            group_id=name,
            group_state="Stable",
            protocol_type="connect" if name == "sinks" else "consumer",
            protocol_data="range",
            members=[
                group.DescribedGroupMember(
                    member_id="m-1",
                    client_id="app",
                    client_host="/10.0.0.1",
                    member_metadata=b"",
                    member_assignment=bytes(written),
                )
            ],
        )
        for name in request.groups
    ]
    return framed(asked, DescribeGroupsResponse(groups=described).encode(version=0))


def test_groups_that_brokers_list_are_described_by_their_coordinators(cluster: Cluster) -> None:
    server = cluster.listening(_groups_of_kafka)
    cluster.update({1: at(1, server.port)}, {})
    cluster.sampler.want_listing()
    wait_for(lambda: cluster.sampler.samples.listings)
    cluster.now += PACE.every_s
    wait_for(lambda: len(cluster.sampler.samples.descriptions) == 2)
    billing, sinks = (cluster.sampler.samples.described(name) for name in ("billing", "sinks"))
    member = GroupMember("m-1", "app", "/10.0.0.1", {T: (0, 2)})
    assert billing == Description(1, "Stable", "consumer", "range", (member,), cluster.now)
    assert isinstance(sinks, Description)
    assert sinks.members[0].assigned is None
    # Both in one request.
    assert [one.key for one in server.requests].count(DescribeGroupsResponse.API_KEY) == 1


def test_all_groups_that_brokers_list_are_asked_about_in_the_background_where_that_is_wanted() -> None:
    with ExitStack() as stack:
        server = stack.enter_context(Listening(_everything))
        sampler = Sampler("test", on_change=lambda _: None, keeps_all=True, pace=PACE)
        leaders = immutables.Map({T: {0: 1, 2: 1}, **OFFSETS})
        sampler.update(immutables.Map({1: at(1, server.port)}), leaders.get, leaders)
        sampler.start()
        stack.callback(sampler.stop)
        wait_for(lambda: sampler.samples.commits.get("billing"))
        wait_for(lambda: isinstance(sampler.samples.log(T, 2), LogEnds))


def test_what_is_made_of_samples_has_its_turn_after_each_tick_however_seldom_news_are_told() -> None:
    with ExitStack() as stack:
        turns: list[Sampled] = []
        pace = msgspec.structs.replace(PACE, announce_s=3_600.0)
        sampler = Sampler("test", on_change=lambda _: None, on_samples=turns.append, pace=pace)
        sampler.start()
        stack.callback(sampler.stop)
        wait_for(lambda: len(turns) > 2)


def _everything(asked: Asked) -> bytes | None:
    """What a broker answers to all questions: of a group that committed one offset of `orders`."""
    if asked.key == LIST_OFFSETS:
        return GOOD(asked)
    if asked.key != OFFSET_FETCH:
        return _groups_of_kafka(asked)
    of_topic = OffsetFetchResponse.OffsetFetchResponseTopic
    partition = of_topic.OffsetFetchResponsePartition(
        partition_index=0, committed_offset=7, metadata="", error_code=0
    )
    topics = [of_topic(name=T, partitions=[partition])]
    return framed(asked, OffsetFetchResponse(topics=topics, error_code=0).encode(version=2))


def test_a_round_is_batched_by_leader_and_bounded(cluster: Cluster) -> None:
    servers = {number: cluster.listening(GOOD) for number in range(1, 5)}
    names = [f"topic-{number:04}" for number in range(1_000)]
    leaders = {name: {n: 1 + (n % 4) for n in range(20)} for name in names}
    cluster.update({n: at(n, server.port) for n, server in servers.items()}, leaders)
    cluster.sampler.keep(names, {})
    cluster.now += PACE.slow_s

    def sampled() -> int:
        logs = cluster.sampler.samples.ends.values()
        return sum(isinstance(log, LogEnds) for partitions in logs for log in partitions.values())

    wait_for(lambda: sampled() == PACE.slow, message=sampled)
    requests = [asked for server in servers.values() for asked in server.requests]
    # 2 500 partitions a broker make three requests for each end.
    assert len(requests) == 4 * 3 * 2
    assert sum(asked.size for asked in requests) / PACE.slow / 2 < 31
