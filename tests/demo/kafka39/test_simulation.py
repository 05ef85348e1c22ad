"""The simulated cluster, on a real ZooKeeper, with a clock that the tests step."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests import recorded
from tests.conftest import Chroot
from tests.demo.kafka39.living import SMALL, Cluster
from tests.demo.runtime.stepped_clock import SteppedClock
from tests.narrowing import known
from tests.waiting import wait_for
from zkdash.demo.kafka39.definitions import NewTopic
from zkdash.demo.kafka39.simulation import Simulation
from zkdash.demo.zookeeper.server import Server
from zkdash.kafka import paths, znode_kinds
from zkdash.kafka.znode_kinds import Kind

pytestmark = pytest.mark.zk


@pytest.fixture
def cluster(chroot: Chroot) -> Iterator[Cluster]:
    made = Cluster(chroot)
    made.simulation.start()
    yield made
    made.simulation.stop()
    assert made.simulation.failures == []


def assigned(cluster: Cluster, topic: str) -> dict[int, list[int]]:
    partitions = cluster.json(f"/brokers/topics/{topic}")["partitions"]
    return {int(p): replicas for p, replicas in partitions.items()}


def all_in_sync(cluster: Cluster) -> bool:
    return all(
        sorted(state["isr"]) == sorted(assigned(cluster, topic)[partition])
        for (topic, partition), state in cluster.states().items()
    )


def controller_id(cluster: Cluster) -> int:
    """The broker that holds /controller. Raises NoNodeError where none does."""
    return int(cluster.json("/controller")["brokerid"])


def has_other_controller(cluster: Cluster, than: int) -> bool:
    try:
        return controller_id(cluster) != than
    except NoNodeError:
        return False


def other_broker(cluster: Cluster) -> int:
    """A broker that is not the controller."""
    return next(b for b in (1, 2, 3, 4) if b != controller_id(cluster))


# --- what is written has the form that real brokers write


def shape(value: object) -> object:
    """A JSON value's form: fields in order, types; maps by data (topics, partitions) as one entry."""
    if isinstance(value, dict):
        if all(key.isdigit() for key in value):
            return {"<n>": shape(next(iter(value.values())))} if value else {}
        return [(key, shape(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("/controller", "/controller"),
        ("/controller_epoch", "/controller_epoch"),
        ("/cluster/id", "/cluster/id"),
        ("/feature", "/feature"),
        ("/brokers/topics/orders", "/brokers/topics/orders"),
        ("/brokers/topics/orders/partitions", "/brokers/topics/orders/partitions"),
        ("/brokers/topics/orders/partitions/0", "/brokers/topics/orders/partitions/0"),
        ("/brokers/topics/orders/partitions/0/state", "/brokers/topics/orders/partitions/0/state"),
        ("/config/topics/clicks", "/config/topics/audit.log"),
    ],
)
def test_a_znode_has_the_form_that_a_real_broker_wrote(cluster: Cluster, path: str, real: str) -> None:
    theirs = recorded.raw("3.9.1-topics")[real]
    data, stat = cluster.client.get(path)
    if theirs.get("text") is None:
        assert data is None
    else:
        assert shape(json.loads(data)) == shape(json.loads(theirs["text"]))
        assert b" " not in data
    assert (stat.version, stat.ephemeralOwner != 0) == (
        theirs["stat"]["version"],
        theirs["stat"]["ephemeralOwner"] != 0,
    )


def test_a_broker_registers_as_a_real_one_and_with_its_rack(cluster: Cluster) -> None:
    theirs = recorded.raw("3.9.1-topics")["/brokers/ids/1"]
    data, stat = cluster.client.get("/brokers/ids/1")
    ours = json.loads(data)
    assert ours.pop("rack") == "rack-1"
    assert shape(ours) == shape(json.loads(theirs["text"]))
    assert stat.version == theirs["stat"]["version"] == 1
    assert stat.ephemeralOwner


def test_every_directory_of_a_fresh_cluster_is_there_and_as_null_as_theirs(cluster: Cluster) -> None:
    fresh = recorded.raw("3.9.1-fresh")
    ours = cluster.tree()
    directories = [p for p, znode in fresh.items() if not znode.get("text") and p != "/"]
    assert {p: ours[p][0] for p in directories} == dict.fromkeys(directories)


def test_a_consumer_group_has_the_form_that_real_consumers_wrote(cluster: Cluster) -> None:
    theirs = {p: z.get("text") for p, z in recorded.raw("1.1.1-consumers").items()}
    registered = next(text for path, text in theirs.items() if path.startswith("/consumers/g-kafka/ids/"))
    members = cluster.client.get_children("/consumers/billing/ids")
    ours = [cluster.json(f"/consumers/billing/ids/{member}") for member in members]
    assert {str(shape(value)) for value in ours} == {str(shape(json.loads(registered)))}
    assert all(re.fullmatch(r"billing_[a-z0-9.-]+-\d{13}-[0-9a-f]{8}", member) for member in members)
    cluster.pass_time(10, lambda: cluster.exists("/consumers/billing/offsets/orders"))
    for below in ("", "/ids", "/owners", "/owners/orders", "/offsets", "/offsets/orders"):
        text = theirs[f"/consumers/g-kafka{below}"]
        data = cluster.client.get(f"/consumers/billing{below}")[0]
        assert data == (None if text is None else text.encode()), below


def test_everything_that_is_written_parses_without_a_problem(cluster: Cluster) -> None:
    read = {path: znode_kinds.parse(paths.locate(path), data) for path, (data, _) in cluster.tree().items()}
    assert {path: reasons for path, (_, reasons) in read.items() if reasons} == {}
    assert sum(1 for path in read if paths.locate(path).kind is Kind.STATE) == 16


def test_the_shop_of_the_demo_has_forty_topics_in_three_racks(chroot: Chroot) -> None:
    from zkdash.demo.kafka39.shop import SHOP

    shop = Cluster(chroot, SHOP)
    shop.simulation.start()
    try:
        assert len(shop.client.get_children("/brokers/topics")) == 40
        assert {shop.json(f"/brokers/ids/{n}")["rack"] for n in range(1, 7)} == {"zone-a", "zone-b", "zone-c"}
        states = shop.states()
        assert len([key for key in states if key[0] == "clickstream"]) == 128
        assert all(state["leader"] == state["isr"][0] for state in states.values())
        for topic in ("orders", "scratch", "clickstream"):
            for replicas in assigned(shop, topic).values():
                assert len({(b - 1) % 3 for b in replicas}) == len(replicas)
    finally:
        shop.simulation.stop()
    assert shop.simulation.failures == []


# --- brokers that die and return


def test_a_killed_brokers_partitions_get_live_leaders_and_the_last_in_sync_stays(cluster: Cluster) -> None:
    dead = other_broker(cluster)
    before = cluster.states()
    cluster.simulation.kill_broker(dead)
    assert not cluster.exists(f"/brokers/ids/{dead}")

    def settled() -> bool:
        return all(
            state["leader"] != dead and (dead not in state["isr"] or state["isr"] == [dead])
            for state in cluster.states().values()
        )

    cluster.wait(settled)
    for (topic, partition), state in cluster.states().items():
        old = before[topic, partition]
        changed = dead in old["isr"]
        assert state["leader_epoch"] == old["leader_epoch"] + changed
        if assigned(cluster, topic)[partition] == [dead]:
            assert (state["leader"], state["isr"]) == (-1, [dead])
        else:
            assert state["leader"] in state["isr"]
            assert state["isr"] == [b for b in old["isr"] if b != dead]


def test_a_broker_that_returns_leads_its_offline_partitions_and_catches_up_in_its_own_time(
    cluster: Cluster,
) -> None:
    dead = assigned(cluster, "scratch")[0][0]
    cluster.simulation.kill_broker(dead)
    cluster.wait(lambda: cluster.states()["scratch", 0]["leader"] == -1)
    epochs = {key: state["leader_epoch"] for key, state in cluster.states().items()}
    cluster.simulation.start_broker(dead)
    cluster.wait(lambda: cluster.states()["scratch", 0]["leader"] == dead)
    assert not all_in_sync(cluster)
    cluster.pass_time(15, lambda: all_in_sync(cluster))
    for (topic, partition), state in cluster.states().items():
        if topic != "scratch":  # joining the ISR is no leadership decision
            assert state["leader_epoch"] == epochs[topic, partition]


def test_the_preferred_leaders_are_back_after_the_next_check_of_the_balance(cluster: Cluster) -> None:
    dead = other_broker(cluster)
    cluster.simulation.kill_broker(dead)
    cluster.wait(lambda: all(state["leader"] != dead for state in cluster.states().values()))
    cluster.simulation.start_broker(dead)

    def preferred() -> bool:
        return all(s["leader"] == assigned(cluster, t)[p][0] for (t, p), s in cluster.states().items())

    assert not preferred()
    cluster.pass_time(60, preferred)


def test_when_the_controller_dies_another_one_takes_over_with_the_next_epoch(cluster: Cluster) -> None:
    dead = controller_id(cluster)
    assert cluster.client.get("/controller_epoch")[0] == b"1"
    cluster.simulation.kill_broker(dead)
    cluster.wait(lambda: has_other_controller(cluster, than=dead))
    assert cluster.client.get("/controller_epoch")[0] == b"2"
    cluster.wait(lambda: all(state["leader"] != dead for state in cluster.states().values()))
    changed = [state for state in cluster.states().values() if state["leader_epoch"]]
    assert changed
    assert {state["controller_epoch"] for state in changed} == {2}


def test_deleting_the_controller_znode_by_hand_makes_an_election(cluster: Cluster) -> None:
    cluster.client.delete("/controller")
    cluster.wait(lambda: cluster.exists("/controller"))
    assert cluster.client.get("/controller_epoch")[0] == b"2"
    cluster.simulation.create_topic(NewTopic("after", 2, 2))
    cluster.wait(lambda: ("after", 1) in cluster.states())
    assert cluster.states()["after", 1]["controller_epoch"] == 2


def test_a_crashed_broker_stays_registered_until_its_session_is_given_up(cluster: Cluster) -> None:
    crashed = controller_id(cluster)
    cluster.simulation.crash_broker(crashed, detected_after_s=6)
    assert controller_id(cluster) == crashed
    cluster.clock.advance(5)
    cluster.simulation.loop.run(lambda: None)
    assert cluster.exists(f"/brokers/ids/{crashed}")
    cluster.clock.advance(2)
    cluster.wait(lambda: has_other_controller(cluster, than=crashed))
    assert not cluster.exists(f"/brokers/ids/{crashed}")


def test_a_controller_that_was_replaced_writes_nothing_more(cluster: Cluster) -> None:
    """Somebody counts the epoch up: the conditional writes of the controller fail, and it resigns."""
    before = cluster.states()
    cluster.client.set("/controller_epoch", b"9")
    cluster.simulation.fall_behind("orders", 0, before["orders", 0]["isr"][1], seconds=5)
    assert cluster.states() == before
    assert cluster.simulation.controller is None
    cluster.client.delete("/controller")
    cluster.wait(lambda: cluster.client.get("/controller_epoch")[0] == b"10")


def test_a_state_that_somebody_wrote_meanwhile_is_not_overwritten(cluster: Cluster) -> None:
    path = "/brokers/topics/orders/partitions/0/state"
    by_hand = {**cluster.json(path), "leader_epoch": 40}
    cluster.client.set(path, json.dumps(by_hand).encode())
    cluster.simulation.fall_behind("orders", 0, by_hand["isr"][1], seconds=5)
    assert cluster.json(path) == by_hand


def test_a_follower_that_falls_behind_leaves_the_isr_and_comes_back(cluster: Cluster) -> None:
    before = cluster.states()["orders", 0]
    slow = before["isr"][1]
    cluster.simulation.fall_behind("orders", 0, slow, seconds=5)
    behind = cluster.states()["orders", 0]
    assert behind == {**before, "isr": [b for b in before["isr"] if b != slow]}
    cluster.pass_time(7, lambda: slow in cluster.states()["orders", 0]["isr"])


# --- requests by znode


def test_a_created_topic_has_overrides_an_assignment_and_then_states(cluster: Cluster) -> None:
    cluster.simulation.create_topic(NewTopic("new", 3, 2, {"cleanup.policy": "compact"}))
    assert cluster.json("/config/topics/new") == {"version": 1, "config": {"cleanup.policy": "compact"}}
    cluster.wait(lambda: ("new", 2) in cluster.states())
    assert cluster.states()["new", 2]["isr"] == assigned(cluster, "new")[2]
    assert len(cluster.json("/brokers/topics/new")["topic_id"]) == 22


def test_a_topic_written_by_hand_gets_an_id_and_leaders(cluster: Cluster) -> None:
    cluster.client.create("/brokers/topics/mine", b'{"version": 1, "partitions": {"0": [2, 3]}}')
    cluster.wait(lambda: ("mine", 0) in cluster.states())
    value = cluster.json("/brokers/topics/mine")
    assert (value["version"], value["partitions"], len(value["topic_id"])) == (3, {"0": [2, 3]}, 22)


def test_partitions_added_by_hand_get_leaders(cluster: Cluster) -> None:
    value = cluster.json("/brokers/topics/clicks")
    value["partitions"]["4"] = [1, 2]
    cluster.client.set("/brokers/topics/clicks", json.dumps(value).encode())
    cluster.wait(lambda: ("clicks", 4) in cluster.states())


def test_a_topic_marked_for_deletion_goes_with_overrides_and_marker(cluster: Cluster) -> None:
    cluster.client.create("/admin/delete_topics/clicks", b"")
    cluster.pass_time(10, lambda: not cluster.exists("/admin/delete_topics/clicks"))
    assert not cluster.exists("/brokers/topics/clicks")
    assert not cluster.exists("/config/topics/clicks")


def test_a_marker_waits_for_a_dead_replica_and_one_without_a_topic_goes(cluster: Cluster) -> None:
    dead = other_broker(cluster)
    cluster.simulation.kill_broker(dead)
    cluster.simulation.delete_topic("orders")
    cluster.simulation.delete_topic("nothing")
    cluster.wait(lambda: not cluster.exists("/admin/delete_topics/nothing"))
    assert cluster.exists("/brokers/topics/orders")
    cluster.simulation.start_broker(dead)
    cluster.pass_time(10, lambda: not cluster.exists("/admin/delete_topics/orders"))
    assert not cluster.exists("/brokers/topics/orders")


def test_a_preferred_election_is_held_and_its_znode_removed(cluster: Cluster) -> None:
    key = next(k for k in cluster.states() if k[0] == "orders")
    preferred = assigned(cluster, "orders")[key[1]][0]
    cluster.simulation.kill_broker(preferred)
    cluster.wait(lambda: cluster.states()[key]["leader"] != preferred)
    cluster.simulation.start_broker(preferred)
    cluster.pass_time(15, lambda: preferred in cluster.states()[key]["isr"])
    before = cluster.states()[key]
    request = {"version": 1, "partitions": [{"topic": "orders", "partition": key[1]}]}
    cluster.client.create("/admin/preferred_replica_election", json.dumps(request).encode())
    cluster.wait(lambda: not cluster.exists("/admin/preferred_replica_election"))
    after = cluster.states()[key]
    assert (after["leader"], after["isr"]) == (preferred, before["isr"])
    assert after["leader_epoch"] == before["leader_epoch"] + 1


@pytest.mark.parametrize("data", [b"[", b'{"version":1,"partitions":[{"topic":"nope","partition":0}]}'])
def test_an_election_that_cannot_be_held_is_removed_all_the_same(cluster: Cluster, data: bytes) -> None:
    cluster.client.create("/admin/preferred_replica_election", data)
    cluster.wait(lambda: not cluster.exists("/admin/preferred_replica_election"))


def move(cluster: Cluster, topic: str, partition: int, replicas: list[int]) -> None:
    entry = {"topic": topic, "partition": partition, "replicas": replicas}
    cluster.client.create(
        "/admin/reassign_partitions", json.dumps({"version": 1, "partitions": [entry]}).encode()
    )


def test_a_reassignment_shows_who_comes_and_goes_and_ends_at_its_target(cluster: Cluster) -> None:
    old = assigned(cluster, "clicks")[0]
    target = [b for b in (1, 2, 3, 4) if b not in old]
    move(cluster, "clicks", 0, target)
    cluster.wait(lambda: cluster.json("/brokers/topics/clicks")["adding_replicas"])
    value = cluster.json("/brokers/topics/clicks")
    assert value["partitions"]["0"] == target + old
    assert (value["adding_replicas"], value["removing_replicas"]) == ({"0": target}, {"0": old})
    assert cluster.exists("/admin/reassign_partitions")
    cluster.pass_time(15, lambda: not cluster.exists("/admin/reassign_partitions"))
    done = cluster.json("/brokers/topics/clicks")
    assert done == {
        **value,
        "partitions": {**value["partitions"], "0": target},
        "adding_replicas": {},
        "removing_replicas": {},
    }
    state = cluster.states()["clicks", 0]
    assert (state["leader"], sorted(state["isr"])) == (target[0], sorted(target))
    assert state["leader_epoch"] == 3  # renewed at the start, handed over, shrunk


def test_a_reassignment_to_the_same_replicas_or_of_an_unknown_topic_is_removed(cluster: Cluster) -> None:
    move(cluster, "clicks", 0, assigned(cluster, "clicks")[0])
    cluster.wait(lambda: not cluster.exists("/admin/reassign_partitions"))
    move(cluster, "nope", 0, [1])
    cluster.wait(lambda: not cluster.exists("/admin/reassign_partitions"))


def test_a_move_survives_the_controller_that_began_it(cluster: Cluster) -> None:
    target = [b for b in (1, 2, 3, 4) if b not in assigned(cluster, "clicks")[0]]
    move(cluster, "clicks", 0, target)
    cluster.wait(lambda: cluster.json("/brokers/topics/clicks")["adding_replicas"])
    cluster.client.delete("/controller")
    cluster.wait(lambda: cluster.exists("/controller"))
    cluster.pass_time(15, lambda: not cluster.exists("/admin/reassign_partitions"))
    assert assigned(cluster, "clicks")[0] == target


@pytest.mark.parametrize("stuck", [b"{nope", b'{"version":1,"partitions":[]}'])
def test_after_a_request_that_got_stuck_the_controller_is_deaf_until_an_election(
    cluster: Cluster, stuck: bytes
) -> None:
    cluster.client.create("/admin/reassign_partitions", stuck)
    cluster.client.delete("/admin/reassign_partitions")
    cluster.client.create("/admin/reassign_partitions", stuck)
    cluster.simulation.create_topic(NewTopic("marker", 1, 1))
    cluster.wait(lambda: ("marker", 0) in cluster.states())
    assert cluster.client.get("/admin/reassign_partitions")[0] == stuck
    cluster.client.delete("/admin/reassign_partitions")
    target = list(reversed(assigned(cluster, "clicks")[0]))
    move(cluster, "clicks", 0, target)
    cluster.simulation.create_topic(NewTopic("later", 1, 1))
    cluster.wait(lambda: ("later", 0) in cluster.states())
    assert cluster.exists("/admin/reassign_partitions")
    cluster.client.delete("/controller")
    cluster.wait(lambda: not cluster.exists("/admin/reassign_partitions"))
    assert assigned(cluster, "clicks")[0] == target


def test_old_config_notifications_are_purged_when_a_new_one_comes(cluster: Cluster) -> None:
    old = cluster.client.create("/config/changes/config_change_", b"{}", sequence=True)
    created_ms = cluster.client.exists(old).ctime
    cluster.clock.advance((created_ms - cluster.clock.wall_ms()) / 1000 + 14 * 60)
    cluster.client.create("/config/changes/config_change_", b"{}", sequence=True)
    cluster.simulation.loop.run(lambda: None)
    assert cluster.exists(old)
    cluster.clock.advance(2 * 60)
    cluster.client.create("/config/changes/config_change_", b"{}", sequence=True)
    cluster.wait(lambda: not cluster.exists(old))


# --- consumer groups


def owners(cluster: Cluster, group: str) -> dict[tuple[str, int], str]:
    found = cluster.tree(f"/consumers/{group}/owners")
    places = {path: paths.locate(path) for path in found}
    return {
        (place.key, int(place.part)): known(found[path][0]).decode()
        for path, place in places.items()
        if place.kind is Kind.OWNER
    }


def test_a_groups_partitions_are_owned_by_ranges_of_its_threads(cluster: Cluster) -> None:
    cluster.pass_time(10, lambda: len(owners(cluster, "billing")) == 8)
    first, second = sorted(cluster.client.get_children("/consumers/billing/ids"))
    threads = sorted(
        f"{member}-{n}"
        for member in (first, second)
        for n in range(cluster.json(f"/consumers/billing/ids/{member}")["subscription"]["orders"])
    )
    got = owners(cluster, "billing")
    assert [got["orders", p] for p in range(8)] == [
        t for t, n in zip(threads, (3, 3, 2), strict=True) for _ in range(n)
    ]


def test_a_white_list_owns_the_topics_that_match_and_those_to_come(cluster: Cluster) -> None:
    assert {topic for topic, _ in owners(cluster, "archive")} == {"clicks", "scratch"}
    cluster.simulation.create_topic(NewTopic("clouds", 2, 1))
    cluster.wait(lambda: ("clouds", 1) in owners(cluster, "archive"))


def test_a_member_that_leaves_gives_its_partitions_to_the_others_and_takes_them_back(
    cluster: Cluster,
) -> None:
    cluster.pass_time(10, lambda: len(owners(cluster, "billing")) == 8)
    cluster.simulation.leave("billing-1")
    cluster.pass_time(
        10,
        lambda: (
            len(owners(cluster, "billing")) == 8
            and len({t.rpartition("-")[0] for t in owners(cluster, "billing").values()}) == 1
        ),
    )
    cluster.simulation.join("billing-1")
    cluster.pass_time(
        10,
        lambda: (
            len(owners(cluster, "billing")) == 8
            and len({t.rpartition("-")[0] for t in owners(cluster, "billing").values()}) == 2
        ),
    )


def test_offsets_are_committed_every_few_seconds_and_only_grow(cluster: Cluster) -> None:
    def offsets() -> dict[str, int]:
        tree = cluster.tree("/consumers/archive/offsets")
        return {p: int(known(z[0])) for p, z in tree.items() if paths.locate(p).kind is Kind.OFFSET}

    cluster.pass_time(60, lambda: len(offsets()) == 8)
    before = offsets()
    cluster.pass_time(10, lambda: sum(offsets().values()) > sum(before.values()))
    assert all(offset >= before[path] for path, offset in offsets().items())


def test_an_abandoned_group_keeps_its_offsets_and_has_no_members(cluster: Cluster) -> None:
    assert cluster.client.get_children("/consumers/gone/ids") == []
    assert owners(cluster, "gone") == {}
    assert cluster.client.get_children("/consumers/gone/offsets/clicks")


# --- the end


def test_a_clean_stop_leaves_no_ephemeral(chroot: Chroot) -> None:
    made = Cluster(chroot)
    made.simulation.start()
    made.simulation.crash_broker(2, detected_after_s=60)
    made.simulation.stop()
    assert [path for path, (_, stat) in made.tree().items() if stat.ephemeralOwner] == []
    assert made.simulation.failures == []


def test_the_same_seed_makes_the_same_happen(chroot: Chroot) -> None:
    def history(address: str) -> dict[str, Any]:
        with_clock = Simulation(address, seed=3, definition=SMALL, time=SteppedClock())
        with_clock.start()
        try:
            client = KazooClient(hosts=address)
            client.start()
            found = {
                topic: json.loads(client.get(f"/brokers/topics/{topic}")[0])
                for topic in client.get_children("/brokers/topics")
            }
            found["controller"] = json.loads(client.get("/controller")[0])
            client.stop()
            client.close()
            return found
        finally:
            with_clock.stop()

    assert history(f"{chroot.address}/one") == history(f"{chroot.address}/two")


def test_a_cluster_lives_on_after_zookeeper_was_started_anew(own_server: Callable[..., Server]) -> None:
    server = own_server()
    clock = SteppedClock()
    simulation = Simulation(server.address, seed=3, definition=SMALL, time=clock)
    simulation.start()
    server.kill()
    server.start()
    client = KazooClient(hosts=server.address)
    client.start()

    def whole() -> bool:
        clock.advance(1.0)
        return (
            len(client.get_children("/brokers/ids")) == 4
            and client.exists("/controller") is not None
            and simulation.controller is not None
            and all(k.state.leader in k.state.isr for k in simulation.controller.context.states.values())
            and len(client.get_children("/consumers/billing/ids")) == 2
        )

    wait_for(whole, 60, lambda: simulation.failures)
    client.stop()
    client.close()
    simulation.stop()
