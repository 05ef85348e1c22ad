"""What small stories fold into: what begins an incident, what belongs to it, and what ends it."""

from __future__ import annotations

from tests.cluster import small
from tests.cluster.incidents.telling import START, Story, about, leaders, replicas
from zkdash.cluster.incidents import expire, words
from zkdash.cluster.incidents.book import QUIET_MS
from zkdash.cluster.incidents.incident import Incident

PARTITIONS = {number: [1 + number % 3, 1 + (number + 1) % 3] for number in range(6)}
CLUSTER: tuple[small.AnyTree, ...] = (
    small.broker(1),
    small.broker(2),
    small.broker(3),
    small.controller(1),
    {"/controller_epoch": small.znode("4")},
    small.topic("orders", PARTITIONS),
    small.group("g", {"g_host-1": ["orders"]}, {"orders": range(6)}),
)


def dead(broker: int) -> small.Tree:
    """The states that a controller writes where a broker went: another leader, or none, and a smaller ISR."""
    tree: small.Tree = {}
    for number, assigned in PARTITIONS.items():
        if broker in assigned:
            rest = [other for other in assigned if other != broker]
            leader = rest[0] if assigned[0] == broker else assigned[0]
            tree |= small.state("orders", number, leader, rest)
    return tree


def back(broker: int) -> small.Tree:
    """Its replicas are in sync again; leaders stay."""
    tree: small.Tree = {}
    for number, assigned in PARTITIONS.items():
        if broker in assigned:
            rest = [other for other in assigned if other != broker]
            leader = rest[0] if assigned[0] == broker else assigned[0]
            tree |= small.state("orders", number, leader, assigned)
    return tree


def only(story: Story) -> Incident:
    (one,) = story.incidents.newest
    return one


def test_a_broker_that_dies_and_comes_back_is_one_story_with_its_numbers() -> None:
    story = Story(*CLUSTER).then(small.gone("/brokers/ids/3"))
    assert story.kinds == [("broker", "3", True)]
    assert words.title(only(story)) == "Broker 3 is gone"
    assert only(story).outages[0].session == small.SESSION
    story.then(dead(3))
    one = only(story)
    assert (one.effects.leaders_moved, one.effects.moved_to, one.effects.left_isr) == (2, {1: 2}, 4)
    story.then(small.broker(3), after_s=30)
    assert words.title(only(story)) == "Broker 3 is back, not yet in sync"
    story.then(back(3), after_s=5)
    one = only(story)
    assert one.ended is not None
    assert one.ended - one.began == 36_000
    assert (one.effects.left_isr, one.effects.back_in_isr) == replicas(story.told) == (4, 4)
    assert one.effects.leaders_moved == leaders(story.told)[0]
    assert one.changes == len(one.rows) == len(story.told)
    assert story.incidents.singles == ()


def test_the_controller_that_dies_is_an_effect_of_its_brokers_death() -> None:
    story = Story(*CLUSTER).then(small.gone("/brokers/ids/1", "/controller"))
    story.then(small.controller(2), {"/controller_epoch": small.znode("5")})
    one = only(story)
    assert (one.subject, one.effects.controller, one.changes) == ("1", 2, 4)


def test_a_controller_that_moves_alone_is_its_own_incident() -> None:
    story = Story(*CLUSTER).then(small.gone("/controller")).then(small.controller(2))
    assert story.kinds == [("controller", "1", False)]
    assert words.title(only(story)) == "Controller moved to broker 2"


def test_brokers_one_after_the_other_are_a_rolling_restart() -> None:
    story = Story(*CLUSTER)
    for broker in (1, 2, 3):
        story.then(small.gone(f"/brokers/ids/{broker}"), dead(broker), after_s=60)
        story.then(small.broker(broker), after_s=20).then(back(broker), after_s=10)
    one = only(story)
    assert about(one) == ("rolling restart", "", False)
    assert one.brokers == (1, 2, 3)
    assert words.title(one) == "Rolling restart of brokers 1, 2, 3"
    assert (one.effects.left_isr, one.effects.back_in_isr) == replicas(story.told)


def test_two_brokers_that_are_away_at_a_time_are_two_incidents() -> None:
    story = Story(*CLUSTER).then(small.gone("/brokers/ids/1")).then(small.gone("/brokers/ids/2"))
    story.then(small.broker(1)).then(small.broker(2))
    assert story.kinds == [("broker", "1", False), ("broker", "2", False)]


def test_a_broker_that_goes_again_before_it_is_in_sync_goes_on_with_its_story() -> None:
    story = Story(*CLUSTER).then(small.gone("/brokers/ids/3"), dead(3)).then(small.broker(3), after_s=20)
    story.then(small.gone("/brokers/ids/3"), after_s=30)
    one = only(story)
    assert (words.title(one), len(one.outages)) == ("Broker 3 is gone", 2)


def test_replicas_that_fall_behind_while_their_broker_lives() -> None:
    story = Story(*CLUSTER).then(small.state("orders", 0, 1, [1]))
    assert story.kinds == [("out of sync", "2", True)]
    story.then(small.state("orders", 0, 1, [1, 2]))
    assert story.kinds == [("out of sync", "2", False)]


def test_replicas_that_fell_behind_just_before_their_broker_went_belong_to_its_death() -> None:
    story = Story(*CLUSTER).then(small.state("orders", 0, 1, [1])).then(small.gone("/brokers/ids/2"))
    one = only(story)
    assert about(one) == ("broker", "2", True)
    assert (one.changes, one.effects.left_isr, one.began) == (2, 1, START + 2000)
    assert "first signs 1 s before" in [effect.text for effect in words.effects(one)]


def test_a_topic_that_is_deleted_is_no_replica_out_of_sync_any_more() -> None:
    story = Story(*CLUSTER).then(small.gone("/brokers/ids/3"), dead(3)).then(small.broker(3), after_s=20)
    story.then({"/admin/delete_topics/orders": small.znode(None)}, after_s=20)
    story.then(small.gone(*small.topic("orders", PARTITIONS), "/admin/delete_topics/orders"))
    assert story.kinds == [("broker", "3", False), ("deletion", "orders", False)]
    assert story.incidents.newest[0].effects.partitions == 6


def test_a_topic_that_is_deleted_is_no_partition_without_a_leader_any_more() -> None:
    scratch = small.topic("scratch", {0: [2], 1: [3]})
    story = Story(*CLUSTER, scratch).then(small.state("scratch", 0, -1, [2]), after_s=20)
    assert story.kinds == [("out of sync", "2", True)]
    story.then({"/admin/delete_topics/scratch": small.znode(None)}, after_s=20)
    story.then(small.gone(*scratch, "/admin/delete_topics/scratch"))
    assert story.kinds == [("out of sync", "2", False), ("deletion", "scratch", False)]


def test_a_topic_that_is_deleted_leaves_what_other_topics_lack() -> None:
    scratch = small.topic("scratch", {0: [2]})
    story = Story(*CLUSTER, scratch).then(small.state("scratch", 0, -1, [2]), after_s=20)
    story.then(small.state("orders", 1, -1, [2]))
    story.then(small.gone(*scratch), after_s=20)
    assert about(story.incidents.newest[-1]) == ("out of sync", "2", True)
    story.then(small.state("orders", 1, 2, [2, 3]), after_s=20)
    assert about(story.incidents.newest[-1]) == ("out of sync", "2", False)


def test_a_reassignment_lasts_from_its_request_to_its_removal() -> None:
    story = Story(*CLUSTER).then(small.reassignment(("orders", 0, [2, 3])))
    story.then(small.state("orders", 0, 1, [1, 2, 3]), after_s=10)
    story.then(small.state("orders", 0, 2, [2, 3]), small.gone("/admin/reassign_partitions"), after_s=10)
    one = only(story)
    assert about(one) == ("reassignment", "", False)
    assert (one.effects.partitions, one.changes, one.ended and one.ended - one.began) == (1, 5, 20_000)


def test_a_group_rebalances_for_a_reason_and_until_it_is_quiet() -> None:
    story = Story(*CLUSTER).then(small.group("g", {"g_host-2": ["orders"]}))
    story.then(small.gone(*(f"/consumers/g/owners/orders/{number}" for number in range(3))))
    story.then({f"/consumers/g/owners/orders/{n}": small.znode("g_host-2-0") for n in range(3)})
    one = only(story)
    assert about(one) == ("rebalance", "g", True)
    assert (one.reason, one.moved, one.effects.owners["g"].lost) == ("member joined", 3, 3)
    later = expire(story.incidents, story.now + QUIET_MS + 1)
    (one,) = later.newest
    assert one.ended == story.now
    assert expire(later, story.now + 2 * QUIET_MS) is later


def test_owners_that_are_lost_as_a_broker_goes_are_its_effect() -> None:
    story = Story(*CLUSTER).then(small.gone("/brokers/ids/3"))
    story.then(small.gone("/consumers/g/ids/g_host-1", "/consumers/g/owners/orders/0"))
    one = only(story)
    assert (one.subject, one.effects.owners["g"].lost, one.effects.left) == ("3", 1, 1)
    assert "g lost 1 owner" in [effect.text for effect in words.effects(one)]


def test_a_configuration_that_changes_and_a_topic_that_is_made() -> None:
    story = Story(*CLUSTER).then(small.config("orders", a="1")).then(small.topic("new", {0: [1]}))
    assert story.kinds == [("config", "orders", True)]
    assert [change.what for change in story.incidents.singles] == ["topic new was created"]


def test_commits_are_no_change_and_so_no_incident() -> None:
    story = Story(*CLUSTER)
    before = story.incidents
    story.then({"/consumers/g/offsets/orders/0": small.znode("7")})
    assert (story.told, story.incidents) == ([], before)
