"""A small healthy cluster of Kafka 3.9, a cluster of 0.7, and what stands in them, as trees to be planted."""

from __future__ import annotations

from collections.abc import Mapping

from tests.cluster.checks.planting import Planted, Tree, document, text

STAMP = "1795260000000"
TOPIC_IDS = ("7q1gJvnOQHyeAnhZqhmDlw", "Zq1gJvnOQHyeAnhZqhmDlw", "aq1gJvnOQHyeAnhZqhmDlw")


def broker(number: int, *, host: str | None = None, rack: str | None = None, **more: object) -> Tree:
    name = host or f"host-{number}"
    fields: dict[str, object] = {
        "features": {},
        "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
        "endpoints": [f"PLAINTEXT://{name}:9092"],
        "jmx_port": -1,
        "port": 9092,
        "host": name,
        "version": 5,
        "timestamp": STAMP,
    }
    if rack is not None:
        fields["rack"] = rack
    return {f"/brokers/ids/{number}": document(fields | more, ephemeral=True)}


def old_broker(number: int) -> Tree:
    """0.7."""
    return {f"/brokers/ids/{number}": text(f"host-{STAMP}:host-{number}:9092", ephemeral=True)}


def controller(number: int, **more: object) -> Tree:
    fields = {"version": 2, "brokerid": number, "timestamp": STAMP, "kraftControllerEpoch": -1}
    return {"/controller": document(fields | more, ephemeral=True)}


def epoch(number: int) -> Tree:
    return {"/controller_epoch": text(str(number))}


def assignment(name: str, partitions: Mapping[int, list[int]], **more: object) -> Tree:
    fields: dict[str, object] = {
        "version": 3,
        "partitions": {str(partition): replicas for partition, replicas in partitions.items()},
        "adding_replicas": {},
        "removing_replicas": {},
    }
    return {f"/brokers/topics/{name}": document(fields | more)}


def state(name: str, partition: int, leader: int, isr: list[int], **more: object) -> Tree:
    fields = {"controller_epoch": 5, "leader": leader, "version": 1, "leader_epoch": 0, "isr": isr}
    return {f"/brokers/topics/{name}/partitions/{partition}/state": document(fields | more)}


def topic(name: str, partitions: Mapping[int, list[int]], **more: object) -> Tree:
    """A topic whose partitions are led by their preferred replica, all replicas in sync."""
    tree = assignment(name, partitions, **more)
    for partition, replicas in partitions.items():
        tree |= state(name, partition, replicas[0], replicas)
    return tree


def old_topic(name: str, counts: Mapping[int, int]) -> Tree:
    """0.7: how many partitions each broker holds."""
    return {
        f"/brokers/topics/{name}/{broker}": text(str(count), ephemeral=True)
        for broker, count in counts.items()
    }


def config(entity: str, **settings: str) -> Tree:
    """`entity` is "topics/t", "brokers/1", "users/u" and so on; `_` in a setting's name stands for a dot."""
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return {f"/config/{entity}": document({"version": 1, "config": named})}


def member(group: str, name: str, threads: Mapping[str, int], *, pattern: str = "static") -> Tree:
    """A consumer `<group>_host-<stamp>-<name>`; `name` is eight hex digits."""
    fields = {"version": 1, "subscription": dict(threads), "pattern": pattern, "timestamp": STAMP}
    return {f"/consumers/{group}/ids/{consumer(group, name)}": document(fields, ephemeral=True)}


def consumer(group: str, name: str) -> str:
    return f"{group}_host-{STAMP}-{name}"


def owner(group: str, of: str, part: str, name: str, thread: int = 0) -> Tree:
    return {
        f"/consumers/{group}/owners/{of}/{part}": text(f"{consumer(group, name)}-{thread}", ephemeral=True)
    }


def offset(group: str, of: str, part: str, value: str) -> Tree:
    return {f"/consumers/{group}/offsets/{of}/{part}": text(value)}


# Three brokers, a controller, a topic, its compacted offsets topic, a group that consumes the first.
HEALTHY: Tree = {
    **broker(1),
    **broker(2),
    **broker(3),
    **controller(1),
    **epoch(5),
    "/cluster/id": document({"version": "1", "id": "iAZYM0SaQ-elhe1rT4ifIg"}),
    **{f"/{path}": Planted() for path in ("brokers/seqid", "config/topics", "admin/delete_topics")},
    **topic("fine", {0: [1, 2, 3], 1: [2, 3, 1], 2: [3, 1, 2]}, topic_id=TOPIC_IDS[0]),
    **config("topics/fine"),
    **topic("__consumer_offsets", {0: [1, 2, 3], 1: [2, 3, 1], 2: [3, 1, 2]}, topic_id=TOPIC_IDS[1]),
    **config("topics/__consumer_offsets", cleanup_policy="compact"),
    **member("readers", "00c0ffee", {"fine": 3}),
    **owner("readers", "fine", "0", "00c0ffee", 0),
    **owner("readers", "fine", "1", "00c0ffee", 1),
    **owner("readers", "fine", "2", "00c0ffee", 2),
    **offset("readers", "fine", "0", "10"),
    **offset("readers", "fine", "1", "20"),
    **offset("readers", "fine", "2", "30"),
}
