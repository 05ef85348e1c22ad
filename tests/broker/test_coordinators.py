"""What a coordinator that cannot tell yet is asked again, and how long it keeps what it tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import immutables
import pytest
from kafka.protocol.admin import DescribeConfigsRequest, DescribeConfigsResponse
from kafka.protocol.consumer import OffsetFetchRequest, OffsetFetchResponse
from kafka.protocol.metadata import ApiVersionsResponse

from tests.broker.listening import Asked, Listening, framed
from tests.waiting import wait_for
from zkdash.broker.coordinators import retention
from zkdash.broker.coordinators.retention import DAY, WEEK
from zkdash.broker.pace import Pace
from zkdash.broker.sampler import Sampler
from zkdash.broker.samples import Commit, GroupCommits, Retention, UnknownCommits
from zkdash.kafka.consumers.coordinators import OFFSETS_TOPIC
from zkdash.kafka.values import Broker, Layout

# Nobody's turn comes twice: who is asked again is so for another reason.
PACE = Pace(every_s=0.02, slow_s=3_600.0, limit_s=5.0, tick_s=0.005, announce_s=0.0)
OFFSET_FETCH, API_VERSIONS, DESCRIBE_CONFIGS = 9, 18, 32

Start = Callable[[Listening, int], Sampler]


@pytest.fixture
def start() -> Iterator[Start]:
    """A sampler of one broker, which coordinates all groups and registered in some version."""
    with ExitStack() as stack:

        def starting(server: Listening, version: int) -> Sampler:
            stack.enter_context(server)
            sampler = Sampler("test", on_change=lambda _: None, pace=PACE)
            text = f"PLAINTEXT://127.0.0.1:{server.port}"
            broker = Broker(1, Layout.V08, "127.0.0.1", server.port, version=version, endpoints=(text,))
            leaders = immutables.Map({OFFSETS_TOPIC: {0: 1}, "orders": {0: 1}})
            sampler.update(immutables.Map({1: broker}), leaders.get, leaders)
            sampler.start()
            stack.callback(sampler.stop)
            return sampler

        yield starting


def committed(asked: Asked, code: int) -> bytes:
    """One offset, or an error code of the whole group."""
    of_topic = OffsetFetchResponse.OffsetFetchResponseTopic
    partition = of_topic.OffsetFetchResponsePartition(
        partition_index=0, committed_offset=7, metadata="", error_code=0
    )
    topics = [] if code else [of_topic(name="orders", partitions=[partition])]
    answer: bytes = OffsetFetchResponse(topics=topics, error_code=code).encode(version=2)
    return framed(asked, answer)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (14, "it still loads the group's commits"),
        (15, "the group has no coordinator now"),
        (16, "it is not the group's coordinator"),
    ],
)
def test_a_coordinator_that_loads_is_told_as_such_and_asked_again_until_it_tells(
    start: Start, code: int, reason: str
) -> None:
    times: Counter[str] = Counter()
    codes = {"loading": code, "secret": 30}

    def answer(asked: Asked) -> bytes:
        group = OffsetFetchRequest.decode(asked.body, version=2).group_id
        times[group] += 1
        return committed(asked, codes[group])

    sampler = start(Listening(answer), 4)
    groups = dict.fromkeys(codes, ("orders",))
    sampler.keep(groups, groups)
    wait_for(lambda: times["loading"] > 5 and times["secret"])
    assert sampler.samples.committed("loading") == UnknownCommits(f"broker 1: {reason}", passes=True)
    assert sampler.samples.committed("secret") == UnknownCommits(
        "broker 1: it does not let us read this group"
    )

    codes["loading"] = 0
    commits = wait_for(lambda: told(sampler, "loading"))
    assert commits.commits == {("orders", 0): Commit(7, "")}
    assert times["secret"] == 1


def told(sampler: Sampler, group: str) -> GroupCommits | None:
    commits = sampler.samples.committed(group)
    return commits if isinstance(commits, GroupCommits) else None


def broker(commit: int, minutes: str | None, *, code: int = 0, describes: int | None = 4) -> Listening:
    """A broker whose newest version of OffsetCommit is `commit`; it has no answer to other questions."""

    def answer(asked: Asked) -> bytes:
        if asked.key == API_VERSIONS:
            api = ApiVersionsResponse.ApiVersion
            newest = {8: commit, **({} if describes is None else {DESCRIBE_CONFIGS: describes})}
            keys = [api(api_key=key, min_version=0, max_version=version) for key, version in newest.items()]
            return framed(asked, ApiVersionsResponse(error_code=0, api_keys=keys).encode(version=0))
        if asked.key != DESCRIBE_CONFIGS:
            return committed(asked, 0)
        assert asked.version == min(describes or 0, 1)
        (resource,) = DescribeConfigsRequest.decode(asked.body, version=asked.version).resources
        assert (resource.resource_type, resource.resource_name) == (4, "1")
        assert list(resource.configuration_keys) == [retention.KEY]
        result = DescribeConfigsResponse.DescribeConfigsResult
        is_default = minutes == "10080"
        entry = result.DescribeConfigsResourceResult(
            name=retention.KEY,
            value=minutes,
            read_only=True,
            is_sensitive=False,
            is_default=is_default,
            config_source=5 if is_default else 4,
            synonyms=[],
        )
        results = [
            result(error_code=code, error_message="", resource_type=4, resource_name="1", configs=[entry])
        ]
        response = DescribeConfigsResponse(throttle_time_ms=0, results=results)
        return framed(asked, response.encode(version=asked.version))

    return Listening(answer)


REFUSED = "broker 1: it does not let us describe the cluster"
NONSENSE = "broker 1: its answer does not hold offsets.retention.minutes"
NOT_YET = "brokers before 0.11 do not tell their configuration"


@pytest.mark.parametrize(
    ("serve", "version", "expected"),
    [
        (lambda: broker(9, "10080"), 5, Retention(WEEK, by_group=True, is_default=True)),
        (lambda: broker(3, "10080", describes=0), 4, Retention(WEEK, by_group=False, is_default=True)),
        (lambda: broker(3, "60"), 4, Retention(60, by_group=False, is_default=False)),
        # who may not ask knows what the release has where nobody sets it
        (lambda: broker(4, None, code=31), 4, Retention(WEEK, by_group=False, reason=REFUSED)),
        (lambda: broker(3, None, code=31), 4, Retention(DAY, by_group=False, reason=REFUSED)),
        (lambda: broker(2, None, describes=None), 4, Retention(DAY, by_group=False, reason=NOT_YET)),
        (lambda: broker(9, "for ever"), 5, Retention(WEEK, by_group=True, reason=NONSENSE)),
    ],
    ids=["default", "default of 0.11", "set", "refused by 2.0", "refused by 1.1", "0.10", "nonsense"],
)
def test_how_long_a_coordinator_keeps_offsets_is_asked_once_while_somebody_looks(
    start: Start, serve: Callable[[], Listening], version: int, expected: Retention
) -> None:
    server = serve()
    sampler = start(server, version)
    sampler.want(groups={"billing": ["orders"]})
    assert wait_for(lambda: sampler.samples.retentions.get(1)) == expected
    rounds = [asked.key for asked in server.requests].count(OFFSET_FETCH)
    wait_for(lambda: [asked.key for asked in server.requests].count(OFFSET_FETCH) > rounds + 3)
    assert [asked.key for asked in server.requests].count(API_VERSIONS) == 1


def test_a_broker_that_closes_the_connection_at_that_question_is_asked_all_others(start: Start) -> None:
    def answer(asked: Asked) -> bytes:
        return committed(asked, 0) if asked.key == OFFSET_FETCH else b""

    sampler = start(Listening(answer), 5)
    sampler.want(groups={"billing": ["orders"]})
    kept = wait_for(lambda: sampler.samples.retentions.get(1))
    assert (kept.minutes, kept.by_group, kept.is_default) == (WEEK, True, None)
    assert kept.reason.endswith("closed the connection")
    wait_for(lambda: told(sampler, "billing"))
    assert sampler.samples.troubles == immutables.Map()


@pytest.mark.parametrize(
    ("version", "minutes", "by_group"),
    [(1, DAY, False), (2, None, None), (3, DAY, False), (4, None, None), (5, WEEK, True)],
)
def test_a_registration_tells_the_default_where_it_tells_the_release(
    version: int, minutes: int | None, by_group: bool | None
) -> None:
    kept = retention.of_registration(version, "nobody asked")
    assert kept == Retention(minutes, by_group, reason="nobody asked")
