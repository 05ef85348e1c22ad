"""One group of three kinds of consumers: a real 0.8.2.2, a real 1.1.1 and ours, on a real 1.1.1 broker.

Every member computes for itself, so that the partitions end up owned, each once, only where all of them
compute the same plan, and release and claim by the same protocol. What they should own is predicted from the
registrations that they wrote.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.lab import sessions
from tests.lab.cluster import Lab
from tests.lab.old_consumers import OldConsumers
from tests.narrowing import sure
from tests.waiting import wait_for
from zkdash.demo.consumers.configs import ConsumerConfig
from zkdash.demo.consumers.connector import Timing
from zkdash.demo.consumers.member import Member
from zkdash.demo.runtime import clock, event_loop
from zkdash.kafka.assignment import rules
from zkdash.kafka.assignment.assignment_context import AssignmentContext
from zkdash.kafka.assignment.rules import Rule
from zkdash.kafka.consumers import subscriptions
from zkdash.kafka.consumers.consumer_ids import parse_thread
from zkdash.kafka.layouts import consumers
from zkdash.kafka.values import Pattern, Registration

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.zk,
    pytest.mark.parametrize("release", ["1.1.1"], indirect=True, scope="session"),
]

OURS, OLDER, NEWER = "ours", "0.8.2.2", "1.1.1"
TOPICS = {"interop": 12, "interop.more": 5}
OWN = ("interop", "growing")  # how the names of the topics begin that are made here
LIMIT_S = 120.0
TIMING = Timing(retries=40, backoff_s=0.2, commit_s=1.0, session_s=20.0)

_numbers = itertools.count(1)


class Owned(NamedTuple):
    """An owner znode: the thread that it names, and the session that holds it."""

    thread: str
    session: int


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, OldConsumers]]:
    """A JVM of each release's consumers."""
    directory = tmp_path_factory.mktemp("consumers")
    with OldConsumers(OLDER, directory / OLDER) as older, OldConsumers(NEWER, directory / NEWER) as newer:
        yield {OLDER: older, NEWER: newer}


@pytest.fixture(scope="module")
def cluster(lab: Lab, release: str) -> Iterator[KazooClient]:
    """A client of the cluster, which has the topics until the last test."""
    broker, *_ = lab.brokers(release)
    with lab.client(release) as client:
        for topic, count in TOPICS.items():
            if not client.exists(f"/brokers/topics/{topic}"):
                broker.create_topic(topic, partitions=count)
        yield client
        made = [name for name in client.get_children("/brokers/topics") if name.startswith(OWN)]
        for name in made:
            client.create(f"/admin/delete_topics/{name}")
        wait_for(lambda: not set(made) & set(client.get_children("/brokers/topics")), LIMIT_S)


@pytest.fixture
def loop() -> Iterator[event_loop.EventLoop]:
    made = event_loop.EventLoop(clock.Clock())
    made.start()
    yield made
    made.stop()
    assert made.failures == []


class Group:
    """A group, what happens to it, and what ZooKeeper holds of it. A member is called by its kind."""

    def __init__(
        self,
        address: str,
        client: KazooClient,
        old: dict[str, OldConsumers],
        loop: event_loop.EventLoop,
        spec: ConsumerConfig,
    ) -> None:
        self.name = spec.group
        self._spec = spec
        self._address = address
        self._client = client
        self._old = old
        self._loop = loop
        self._ours = Member(
            spec,
            address,
            loop=loop,
            time=clock.Clock(),
            random=Random(spec.group),  # noqa: S311 - a consumer id
            next_offset=lambda _, offset: offset or 0,
            timing=TIMING,
            return_s=0.2,
        )
        self._joined: list[str] = []
        self._registrations: dict[str, str] = {}  # the consumer id of each that joined

    # --- what happens to it; each returns when the group has settled

    def join(self, kind: str) -> None:
        if kind == OURS:
            self._loop.run(self._ours.join)
        else:
            self._old[kind].join(
                self.name,
                self._address,
                self.name,
                self._spec.subscription,
                pattern=self._spec.pattern,
                partition_assignment_strategy="roundrobin" if self._spec.rule.is_round_robin else "range",
            )
        self._joined.append(kind)
        self.settle()
        (self._registrations[kind],) = self.sessions().keys() - self._registrations.values()

    def leave(self, kind: str) -> None:
        if kind == OURS:
            self._loop.run(self._ours.leave)
        else:
            self._old[kind].leave(self.name)
        self._joined.remove(kind)
        del self._registrations[kind]
        if self._joined:
            self.settle()

    def expire(self, kind: str) -> None:
        """A member's session ends without its doing: the others take over, and then it is back."""
        before = self.sessions()
        session = before[self._registrations[kind]]
        if kind == OURS:
            # on the loop's own thread, where it asks nothing meanwhile
            self._loop.run(lambda: sessions.end(self._address, session))
        else:
            self._old[kind].jvm.freeze()
            try:
                sessions.end(self._address, session)
                self.settle(members=len(self._joined) - 1)
            finally:
                self._old[kind].jvm.thaw()
        wait_for(lambda: set(self.sessions().values()) - set(before.values()), LIMIT_S, self.sessions)
        self.settle()
        after = self.sessions()
        assert set(after) == set(before)  # the same ids
        assert {name for name in after if after[name] != before[name]} == {self._registrations[kind]}

    def end(self) -> None:
        for kind in list(self._joined):
            self.leave(kind)

    def settle(self, members: int | None = None) -> None:
        """Wait until the owners are those of the plan, all of them held by their members' own sessions."""
        expected = len(self._joined) if members is None else members

        def settled() -> bool:
            sessions, owners, plan = self.sessions(), self.owners(), self.predicted()
            return (
                len(sessions) == expected
                and plan == {key: owned.thread for key, owned in owners.items()}
                and all(sessions.get(_member(owned)) == owned.session for owned in owners.values())
            )

        wait_for(
            settled,
            LIMIT_S,
            lambda: (self._joined, expected, self.predicted(), self.owners()),
            every_s=0.03,
        )
        whole = {(t, key) for t, keys in self.partitions().items() if self._reads(t) for key in keys}
        assert set(self.predicted()) == whole

    # --- what ZooKeeper holds

    def partitions(self) -> dict[str, tuple[str, ...]]:
        """The partitions of every topic of the cluster."""
        read = {name: self._get(f"/brokers/topics/{name}")[0] for name in self._children("/brokers/topics")}
        return {name: tuple(json.loads(data)["partitions"]) for name, data in read.items() if data}

    def _reads(self, topic: str) -> bool:
        if self._spec.pattern is Pattern.STATIC:
            return topic in self._spec.subscription
        return any(re.fullmatch(regex, topic) for regex in self._spec.subscription)

    def sessions(self) -> dict[str, int]:
        """The session that holds each registration."""
        path = f"/consumers/{self.name}/ids"
        stats = {name: self._client.exists(f"{path}/{name}") for name in self._children(path)}
        return {name: stat.ephemeralOwner for name, stat in stats.items() if stat is not None}

    def owners(self) -> dict[tuple[str, str], Owned]:
        root = f"/consumers/{self.name}/owners"
        found = {}
        for topic in self._children(root):
            for key in self._children(f"{root}/{topic}"):
                data, session = self._get(f"{root}/{topic}/{key}")
                if data is not None:
                    found[topic, key] = Owned(data.decode(), session)
        return found

    def predicted(self) -> dict[tuple[str, str], str | None]:
        """The plan, from the registrations that the members wrote."""
        path = f"/consumers/{self.name}/ids"
        registrations: dict[str, Registration] = {}
        for name in self._children(path):
            data, _ = self._get(f"{path}/{name}")
            if data is not None:
                read, reasons = consumers.parse_registration(data)
                registrations[name] = sure(Registration, read)
                assert reasons == ()
        partitions = self.partitions()
        members = subscriptions.resolve(registrations, partitions).members
        plan = rules.assign(self._spec.rule, AssignmentContext(members, partitions))
        assert (plan.refused, plan.undetermined) == (None, None)
        return {(topic, key): owner for topic, keys in plan.owners.items() for key, owner in keys.items()}

    def _children(self, path: str) -> list[str]:
        try:
            return list(self._client.get_children(path))
        except NoNodeError:
            return []

    def _get(self, path: str) -> tuple[bytes | None, int]:
        try:
            data, stat = self._client.get(path)
        except NoNodeError:
            return None, 0
        return data, stat.ephemeralOwner


def _member(owned: Owned) -> str:
    return parse_thread(owned.thread).consumer or ""


@pytest.fixture
def group(
    lab: Lab, release: str, cluster: KazooClient, old: dict[str, OldConsumers], loop: event_loop.EventLoop
) -> Iterator[Callable[..., Group]]:
    """Makes a group; its members leave at the end."""
    made: list[Group] = []

    def make(subscription: Mapping[str, int], **options: Any) -> Group:
        spec = ConsumerConfig(f"interop-{next(_numbers)}", subscription, host="ours", **options)
        made.append(Group(lab.address(release), cluster, old, loop, spec))
        return made[-1]

    yield make
    for each in made:
        each.end()


@pytest.mark.parametrize(
    ("subscription", "pattern"),
    [({"interop": 2}, Pattern.STATIC), ({"interop.*": 3}, Pattern.WHITE_LIST)],
)
def test_three_kinds_of_consumers_share_by_range(
    group: Callable[..., Group], subscription: dict[str, int], pattern: Pattern
) -> None:
    shared = group(subscription, pattern=pattern)
    for kind in (OLDER, OURS, NEWER):
        shared.join(kind)
    for kind in (OURS, OLDER, NEWER):
        shared.expire(kind)
    shared.leave(OURS)
    shared.leave(OLDER)
    shared.join(OURS)
    shared.leave(NEWER)


@pytest.mark.parametrize(
    ("kind", "rule"), [(OLDER, Rule.ROUND_ROBIN_ALIKE), (NEWER, Rule.ROUND_ROBIN_HYPHEN)]
)
def test_ours_and_a_real_consumer_share_by_round_robin(
    group: Callable[..., Group], kind: str, rule: Rule
) -> None:
    shared = group({"interop": 2, "interop.more": 2}, rule=rule)
    shared.join(kind)
    shared.join(OURS)
    shared.expire(kind)
    shared.expire(OURS)
    shared.leave(kind)
    shared.join(kind)
    shared.leave(OURS)


def test_three_kinds_of_consumers_take_up_a_topic_that_comes_later_and_partitions_that_are_added(
    group: Callable[..., Group], lab: Lab, release: str, cluster: KazooClient
) -> None:
    broker, *_ = lab.brokers(release)
    shared = group({"growing.*": 2}, pattern=Pattern.WHITE_LIST)
    broker.create_topic("growing-1", partitions=2)
    for kind in (NEWER, OLDER, OURS):
        shared.join(kind)
    assert len(shared.owners()) == 2
    broker.create_topic("growing-2", partitions=7)
    shared.settle()
    assert len(shared.owners()) == 9
    path = "/brokers/topics/growing-1"
    assignment = json.loads(cluster.get(path)[0])
    assignment["partitions"] |= {str(partition): [1] for partition in range(2, 11)}
    cluster.set(path, json.dumps(assignment).encode())
    shared.settle()
    assert len(shared.owners()) == 18
