"""The protocol by which old consumers share partitions, on a real ZooKeeper, with a clock that is stepped."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.conftest import Chroot
from tests.demo.runtime.hearing import hear
from tests.demo.runtime.stepped_clock import SteppedClock
from tests.narrowing import sure
from tests.waiting import wait_for
from zkdash.demo.consumers import offsets
from zkdash.demo.consumers.configs import ConsumerConfig
from zkdash.demo.consumers.member import Member, RegisteredError
from zkdash.demo.runtime import event_loop
from zkdash.kafka.assignment import rules
from zkdash.kafka.assignment.assignment_context import AssignmentContext
from zkdash.kafka.assignment.rules import Rule
from zkdash.kafka.consumers import subscriptions
from zkdash.kafka.layouts import consumers
from zkdash.kafka.values import Pattern, Registration

pytestmark = pytest.mark.zk

BACKOFF_S = 2.0
EXPIRY_S = 6.0
Owners = dict[str, str]


class Stage:
    """A ZooKeeper with brokers and topics made by hand, and consumers that live by a stepped clock."""

    def __init__(self, chroot: Chroot, loop: event_loop.EventLoop, clock: SteppedClock) -> None:
        self.client = chroot.client
        self.clock = clock
        self.loop = loop
        self.members: list[Member] = []
        self._address = chroot.address
        for directory in ("/brokers/ids", "/brokers/topics"):
            self.client.ensure_path(directory)
        for broker in (1, 2):
            self.client.create(f"/brokers/ids/{broker}", b"{}")

    # --- what there is

    def topic(self, name: str, partitions: int) -> None:
        """Make a topic, or give it so many partitions."""
        data = json.dumps({"version": 1, "partitions": {str(p): [1] for p in range(partitions)}}).encode()
        path = f"/brokers/topics/{name}"
        if self.client.exists(path):
            self.client.set(path, data)
        else:
            self.client.create(path, data)

    def consumer(
        self,
        name: str,
        subscription: Mapping[str, int],
        *,
        next_offset: offsets.NextOffset = lambda _, offset: (offset or 0) + 10,
        **options: Any,
    ) -> Member:
        """A consumer whose id is `g_<name>`; it has not joined yet."""
        config = ConsumerConfig("g", subscription, consumer_id=name, **options)
        made = Member(
            config,
            self._address,
            loop=self.loop,
            time=self.clock,
            random=Random(name),  # noqa: S311 - a consumer id
            next_offset=next_offset,
        )
        self.members.append(made)
        return made

    def join(self, name: str, subscription: Mapping[str, int], **options: Any) -> Member:
        member = self.consumer(name, subscription, **options)
        self.loop.run(member.join)
        return member

    def hold(self, topic: str, partition: int, by: str = "g_somebody-0") -> str:
        """Somebody else owns a partition."""
        path = f"/consumers/g/owners/{topic}/{partition}"
        self.client.create(path, by.encode(), makepath=True)
        return path

    # --- time

    def pass_time(self, seconds: float) -> None:
        """Let time pass after all have heard what happened: none gives up before an event came."""
        self.hear()
        self.clock.advance(seconds)
        self.loop.run(lambda: None)

    def hear(self) -> None:
        """Wait until all members acted upon what ZooKeeper told."""
        hear(self.loop, (member._session for member in self.members))

    def until(self, condition: Callable[[], object]) -> None:
        wait_for(condition, 60, lambda: (self.owners(), self.ids(), self.loop.failures))

    def settled(self) -> None:
        """Step second by second until the owners are those of the plan."""
        for _ in range(60):
            self.pass_time(1.0)
            if self.owners() == self.plan():
                return
        self.until(lambda: self.owners() == self.plan())

    # --- what ZooKeeper holds

    def children(self, path: str) -> list[str]:
        try:
            return sorted(self.client.get_children(path))
        except NoNodeError:
            return []

    def ids(self) -> list[str]:
        return self.children("/consumers/g/ids")

    def owners(self) -> Owners:
        """Owner by "topic/partition"."""
        root, found = "/consumers/g/owners", {}
        for topic in self.children(root):
            for key in self.children(f"{root}/{topic}"):
                try:
                    found[f"{topic}/{key}"] = self.client.get(f"{root}/{topic}/{key}")[0].decode()
                except NoNodeError:
                    continue
        return found

    def sessions(self) -> dict[str, int]:
        """The session that holds each owner."""
        return {key: stat.ephemeralOwner for key, stat in self._owner_stats().items()}

    def czxids(self) -> dict[str, int]:
        """When each owner was created: a rebalance makes them anew."""
        return {key: stat.czxid for key, stat in self._owner_stats().items()}

    def _owner_stats(self) -> dict[str, Any]:
        stats = {key: self.client.exists(f"/consumers/g/owners/{key}") for key in self.owners()}
        return {key: stat for key, stat in stats.items() if stat is not None}

    def offsets(self, topic: str) -> dict[str, int]:
        root = f"/consumers/g/offsets/{topic}"
        return {key: int(self.client.get(f"{root}/{key}")[0]) for key in self.children(root)}

    def plan(self, rule: Rule = Rule.RANGE) -> Owners:
        """Who should own what, from the registrations."""
        found = {name: self.client.get(f"/consumers/g/ids/{name}")[0] for name in self.ids()}
        registered = {
            name: sure(Registration, consumers.parse_registration(data)[0]) for name, data in found.items()
        }
        names = self.children("/brokers/topics")
        keys = {
            name: tuple(json.loads(self.client.get(f"/brokers/topics/{name}")[0])["partitions"])
            for name in names
        }
        plan = rules.assign(rule, AssignmentContext(subscriptions.resolve(registered, names).members, keys))
        return {f"{t}/{key}": str(owner) for t, owned in plan.owners.items() for key, owner in owned.items()}


@pytest.fixture
def stage(chroot: Chroot) -> Iterator[Stage]:
    clock = SteppedClock()
    loop = event_loop.EventLoop(clock)
    loop.start()
    made = Stage(chroot, loop, clock)
    yield made
    for member in made.members:
        loop.run(member.leave)
    loop.stop()
    assert loop.failures == []


# --- registration and sharing


def test_a_consumer_registers_and_claims_by_ephemerals_of_one_session(stage: Stage) -> None:
    stage.topic("orders", 3)
    stage.join("a", {"orders": 2})
    assert stage.ids() == ["g_a"]
    assert stage.owners() == {"orders/0": "g_a-0", "orders/1": "g_a-0", "orders/2": "g_a-1"}
    registration = stage.client.exists("/consumers/g/ids/g_a").ephemeralOwner
    assert registration
    assert set(stage.sessions().values()) == {registration}


def test_members_that_join_and_leave_share_anew(stage: Stage) -> None:
    stage.topic("orders", 5)
    stage.join("a", {"orders": 2})
    second = stage.join("b", {"orders": 2})
    stage.settled()
    assert stage.owners() == dict(
        zip([f"orders/{p}" for p in range(5)], ["g_a-0", "g_a-0", "g_a-1", "g_b-0", "g_b-1"], strict=True)
    )
    stage.loop.run(second.leave)
    stage.settled()
    assert set(stage.owners().values()) == {"g_a-0", "g_a-1"}


def test_more_threads_than_partitions_leave_threads_idle(stage: Stage) -> None:
    stage.topic("orders", 2)
    stage.join("a", {"orders": 2})
    stage.join("b", {"orders": 2})
    stage.settled()
    assert stage.owners() == {"orders/0": "g_a-0", "orders/1": "g_a-1"}


@pytest.mark.parametrize("rule", [Rule.ROUND_ROBIN_ALIKE, Rule.ROUND_ROBIN_HYPHEN])
def test_round_robin_is_shared_in_the_text_form_of_its_release(stage: Stage, rule: Rule) -> None:
    stage.topic("orders", 7)
    stage.topic("clicks", 4)
    for name in "abc":
        stage.join(name, {"orders": 1, "clicks": 1}, rule=rule)
    for _ in range(20):
        stage.pass_time(1.0)
    stage.until(lambda: stage.owners() == stage.plan(rule))
    assert len(stage.owners()) == 11
    assert stage.owners() != stage.plan(Rule.RANGE)


def test_an_id_that_another_session_holds_is_refused(stage: Stage) -> None:
    stage.client.create("/consumers/g/ids/g_a", b"{}", makepath=True)
    taken = stage.consumer("a", {"orders": 1})
    with pytest.raises(RegisteredError, match="g_a is registered already"):
        stage.loop.run(taken.join)
    assert not taken.is_running
    stage.client.delete("/consumers/g/ids/g_a")


# --- claims that meet another's


def test_an_owner_that_is_there_with_its_own_value_is_a_success(stage: Stage) -> None:
    """The reply to an earlier create was lost."""
    stage.topic("orders", 2)
    stage.hold("orders", 1, by="g_a-0")
    member = stage.join("a", {"orders": 1})
    assert stage.owners() == {"orders/0": "g_a-0", "orders/1": "g_a-0"}
    assert not member.is_idle
    assert member.attempts == 1


def test_who_finds_a_partition_held_gives_back_all_of_the_attempt_and_tries_again(stage: Stage) -> None:
    stage.topic("orders", 3)
    held = stage.hold("orders", 1)
    member = stage.join("a", {"orders": 1})
    assert stage.owners() == {"orders/1": "g_somebody-0"}
    stage.pass_time(BACKOFF_S)
    assert member.attempts == 2
    assert stage.owners() == {"orders/1": "g_somebody-0"}
    stage.client.delete(held)
    stage.pass_time(BACKOFF_S)
    assert member.attempts == 3
    assert stage.owners() == stage.plan()
    assert len(stage.owners()) == 3


def test_after_four_attempts_a_member_stays_registered_and_idle_until_the_next_trigger(stage: Stage) -> None:
    stage.topic("orders", 2)
    held = stage.hold("orders", 0)
    member = stage.join("a", {"orders": 1})
    for attempt in (1, 2, 3, 4):
        assert member.attempts == attempt
        assert member.is_idle == (attempt == 4)
        stage.pass_time(BACKOFF_S)
    assert stage.ids() == ["g_a"]
    stage.client.delete(held)
    stage.pass_time(60.0)
    assert stage.owners() == {}
    stage.topic("orders", 3)
    stage.until(lambda: stage.owners() == stage.plan())
    assert not member.is_idle


def test_the_tries_are_a_back_off_apart(stage: Stage) -> None:
    stage.topic("orders", 1)
    stage.hold("orders", 0)
    member = stage.join("a", {"orders": 1})
    stage.pass_time(BACKOFF_S - 0.5)
    assert member.attempts == 1
    stage.pass_time(0.5)
    assert member.attempts == 2


def test_a_trigger_begins_the_tries_anew(stage: Stage) -> None:
    stage.topic("orders", 1)
    stage.hold("orders", 0)
    member = stage.join("a", {"orders": 1})
    stage.pass_time(BACKOFF_S)
    assert member.attempts == 2
    stage.topic("orders", 2)
    stage.until(lambda: member.attempts == 1)


def test_one_registration_that_nobody_understands_stops_the_whole_group(stage: Stage) -> None:
    stage.topic("orders", 2)
    stage.client.create("/consumers/g/ids/g_foreign", b"[", makepath=True)
    member = stage.join("a", {"orders": 1})
    for _ in range(4):
        stage.pass_time(BACKOFF_S)
    assert member.is_idle
    assert stage.owners() == {}
    stage.client.delete("/consumers/g/ids/g_foreign")
    stage.until(lambda: stage.owners() == stage.plan())


def test_round_robin_of_0_8_2_refuses_members_whose_topics_differ(stage: Stage) -> None:
    stage.topic("orders", 2)
    stage.topic("clicks", 2)
    first = stage.join("a", {"orders": 1}, rule=Rule.ROUND_ROBIN_ALIKE)
    second = stage.join("b", {"clicks": 1}, rule=Rule.ROUND_ROBIN_ALIKE)
    for _ in range(12):
        stage.pass_time(1.0)
    stage.until(lambda: first.is_idle and second.is_idle)
    assert stage.owners() == {}
    assert stage.ids() == ["g_a", "g_b"]


# --- triggers


def test_added_partitions_are_taken_up(stage: Stage) -> None:
    stage.topic("orders", 2)
    stage.join("a", {"orders": 1})
    stage.topic("orders", 6)
    stage.until(lambda: len(stage.owners()) == 6)


def test_a_topic_that_comes_later_is_taken_up_by_who_named_it(stage: Stage) -> None:
    stage.join("a", {"orders": 1})
    assert stage.owners() == {}
    stage.topic("orders", 2)
    stage.until(lambda: len(stage.owners()) == 2)


def test_a_deleted_topic_makes_no_rebalance(stage: Stage) -> None:
    stage.topic("orders", 1)
    stage.topic("clicks", 1)
    member = stage.join("a", {"orders": 1, "clicks": 1})
    changes = stage.client.exists("/consumers/g/owners/orders").cversion
    before = stage.czxids()
    stage.client.delete("/brokers/topics/clicks")
    stage.topic("orders", 2)
    stage.until(lambda: stage.czxids().get("orders/0", 0) > before["orders/0"] and len(stage.owners()) == 2)
    # One owner was deleted and made again, beside a new one, for the write and not for the deletion, which
    # it finds then.
    assert stage.client.exists("/consumers/g/owners/orders").cversion == changes + 3
    assert set(stage.owners()) == {"orders/0", "orders/1"}
    assert not member.is_idle


def test_a_topic_whose_replicas_move_makes_no_rebalance(stage: Stage) -> None:
    stage.topic("orders", 1)
    stage.topic("clicks", 1)
    stage.join("a", {"orders": 1, "clicks": 1})
    changes = stage.client.exists("/consumers/g/owners/orders").cversion
    stage.client.set("/brokers/topics/orders", b'{"version":1,"partitions":{"0":[2]}}')
    stage.topic("clicks", 2)
    stage.until(lambda: len(stage.owners()) == 3)
    # for the new partition, and not before
    assert stage.client.exists("/consumers/g/owners/orders").cversion == changes + 2


def test_a_broker_that_dies_makes_no_rebalance(stage: Stage) -> None:
    stage.topic("orders", 2)
    stage.join("a", {"orders": 1})
    before = stage.czxids()
    stage.client.delete("/brokers/ids/2")
    stage.pass_time(60.0)
    assert stage.czxids() == before


def test_without_any_broker_nothing_is_claimed_until_one_comes(stage: Stage) -> None:
    stage.topic("orders", 2)
    for broker in (1, 2):
        stage.client.delete(f"/brokers/ids/{broker}")
    member = stage.join("a", {"orders": 1})
    stage.pass_time(60.0)
    assert stage.owners() == {}
    assert (member.attempts, member.is_idle) == (1, False)
    stage.client.create("/brokers/ids/1", b"{}")
    stage.until(lambda: len(stage.owners()) == 2)


@pytest.mark.parametrize(
    ("regex", "pattern"), [("ord.*|late", Pattern.WHITE_LIST), ("clicks|other.*", Pattern.BLACK_LIST)]
)
def test_a_wildcard_takes_up_new_topics_that_it_allows_and_leaves_out_others_and_internal_ones(
    stage: Stage, regex: str, pattern: Pattern
) -> None:
    for topic in ("orders", "clicks", "__consumer_offsets"):
        stage.topic(topic, 2)
    stage.join("a", {regex: 1}, pattern=pattern)
    stage.join("b", {regex: 1}, pattern=pattern)
    stage.settled()
    assert set(stage.owners()) == {"orders/0", "orders/1"}
    before = stage.czxids()
    stage.topic("others", 2)
    stage.pass_time(10.0)
    assert stage.czxids() == before
    stage.topic("late", 2)
    stage.until(lambda: stage.client.exists("/consumers/g/owners/late"))
    stage.settled()
    assert set(stage.owners()) == {"orders/0", "orders/1", "late/0", "late/1"}


def test_a_wildcard_lets_go_of_a_topic_that_is_deleted(stage: Stage) -> None:
    for topic in ("orders", "old"):
        stage.topic(topic, 2)
    stage.join("a", {"o.*": 1}, pattern=Pattern.WHITE_LIST)
    assert len(stage.owners()) == 4
    stage.client.delete("/brokers/topics/old")
    stage.until(lambda: set(stage.owners()) == {"orders/0", "orders/1"})


# --- sessions that end


def expire(stage: Stage, member: Member) -> None:
    """End a member's session from elsewhere, as ZooKeeper does when it hears nothing for too long."""
    there = member.zookeeper._client
    other = KazooClient(hosts=stage._address, client_id=there.client_id, timeout=10.0)
    other.start(timeout=60.0)
    other.stop()
    other.close()


def test_after_an_expired_session_a_member_is_back_under_its_id_and_goes_on_where_it_committed(
    stage: Stage,
) -> None:
    stage.topic("orders", 4)
    first = stage.join("a", {"orders": 1})
    stage.join("b", {"orders": 1})
    stage.settled()
    stage.pass_time(5.0)
    before, sessions = stage.offsets("orders"), stage.sessions()
    assert len(before) == 4
    expire(stage, first)
    stage.until(lambda: stage.ids() == ["g_b"])
    stage.until(lambda: set(stage.owners().values()) == {"g_b-0"})
    for _ in range(10):
        stage.pass_time(1.0)
    stage.until(lambda: stage.ids() == ["g_a", "g_b"])
    stage.settled()
    assert stage.sessions()["orders/0"] not in sessions.values()
    stage.pass_time(5.0)
    after = stage.offsets("orders")
    assert all(after[key] >= before[key] for key in before)


def test_who_hangs_too_long_loses_its_partitions_and_takes_its_part_again_when_it_wakes(stage: Stage) -> None:
    stage.topic("orders", 4)
    hanging = stage.join("a", {"orders": 1})
    stage.join("b", {"orders": 1})
    stage.settled()
    stage.loop.run(lambda: hanging.hang(expires_after_s=EXPIRY_S, wakes_after_s=15.0))
    stage.pass_time(EXPIRY_S - 1)
    assert stage.ids() == ["g_a", "g_b"]
    stage.pass_time(1.0)
    stage.until(lambda: stage.ids() == ["g_b"])
    stage.until(lambda: set(stage.owners().values()) == {"g_b-0"} and len(stage.owners()) == 4)
    assert hanging.is_running
    stage.pass_time(15.0 - EXPIRY_S)
    stage.until(lambda: stage.ids() == ["g_a", "g_b"])
    stage.settled()
    assert set(stage.owners().values()) == {"g_a-0", "g_b-0"}


def test_who_leaves_while_it_hangs_does_not_come_back(stage: Stage) -> None:
    stage.topic("orders", 2)
    member = stage.join("a", {"orders": 1})
    stage.loop.run(lambda: member.hang(expires_after_s=EXPIRY_S, wakes_after_s=15.0))
    stage.loop.run(member.leave)
    assert stage.ids() == []
    stage.pass_time(60.0)
    assert stage.ids() == []
    assert not member.is_running


def test_an_id_that_is_still_held_by_the_earlier_session_is_tried_again(stage: Stage) -> None:
    stage.topic("orders", 2)
    member = stage.join("a", {"orders": 1})
    stage.loop.run(lambda: member.hang(expires_after_s=1.0, wakes_after_s=2.0))
    stage.pass_time(1.0)
    stage.until(lambda: stage.ids() == [])
    stage.client.create("/consumers/g/ids/g_a", b"{}")
    stage.pass_time(1.0)
    assert stage.owners() == {}
    stage.client.delete("/consumers/g/ids/g_a")
    stage.pass_time(3.0)
    stage.until(lambda: len(stage.owners()) == 2)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_to_a_group_every_partition_ends_up_with_the_owner_of_the_plan(
    stage: Stage, seed: int
) -> None:
    random = Random(seed)  # noqa: S311 - a simulation
    stage.topic("orders", 12)
    members = [stage.consumer(name, {"orders": random.randint(1, 5)}) for name in "abcd"]
    stage.loop.run(members[0].join)
    for _ in range(25):
        member = random.choice(members[1:])
        if not member.is_running:
            stage.loop.run(member.join)
        elif random.random() < 0.5:
            stage.loop.run(member.leave)
        else:
            wakes = random.uniform(1, 12)
            stage.loop.run(functools.partial(member.hang, expires_after_s=EXPIRY_S, wakes_after_s=wakes))
        for _ in range(random.randint(0, 4)):
            stage.pass_time(1.0)
    for _ in range(15):
        stage.pass_time(1.0)
    stage.until(lambda: len(stage.ids()) == sum(member.is_running for member in members))
    stage.settled()
    assert len(stage.owners()) == 12


# --- offsets


def test_the_first_commit_makes_the_parents_and_each_later_one_sets_what_moved(stage: Stage) -> None:
    stage.topic("orders", 2)
    stage.join("a", {"orders": 1})
    assert not stage.client.exists("/consumers/g/offsets")
    stage.pass_time(5.0)
    assert stage.offsets("orders") == {"0": 10, "1": 10}
    stage.pass_time(5.0)
    assert stage.offsets("orders") == {"0": 20, "1": 20}
    assert stage.client.exists("/consumers/g/offsets/orders/0").version == 1
    assert not stage.client.exists("/consumers/g/offsets/orders/0").ephemeralOwner


def test_an_offset_that_did_not_move_is_not_written(stage: Stage) -> None:
    stage.topic("orders", 2)
    stage.join("a", {"orders": 1}, next_offset=lambda key, offset: 7 if key[1] == "0" else (offset or 0) + 1)
    for _ in range(4):
        stage.pass_time(5.0)
    assert stage.offsets("orders") == {"0": 7, "1": 4}
    assert stage.client.exists("/consumers/g/offsets/orders/0").version == 0
    assert stage.client.exists("/consumers/g/offsets/orders/1").version == 3


def test_a_rebalance_commits_before_it_lets_go_and_the_next_owner_goes_on_from_there(stage: Stage) -> None:
    stage.topic("orders", 1)
    stage.join("b", {"orders": 1})
    stage.join("a", {"orders": 1})
    stage.settled()
    assert stage.owners() == {"orders/0": "g_a-0"}
    committed = stage.offsets("orders")["0"]
    stage.pass_time(5.0)
    assert stage.offsets("orders")["0"] == committed + 10


def test_a_member_that_leaves_commits_once_more(stage: Stage) -> None:
    stage.topic("orders", 1)
    member = stage.join("a", {"orders": 1})
    stage.loop.run(member.leave)
    assert stage.offsets("orders") == {"0": 10}


def test_offsets_that_are_kept_in_kafka_are_not_in_zookeeper(stage: Stage) -> None:
    stage.topic("orders", 2)
    stage.join("a", {"orders": 1}, commits=False)
    stage.pass_time(60.0)
    assert len(stage.owners()) == 2
    assert not stage.client.exists("/consumers/g/offsets")
