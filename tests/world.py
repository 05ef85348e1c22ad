"""A small Kafka cluster written by hand: znodes as 3.9 writes them, brokers with a session each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from kazoo.client import KazooClient


class World:
    """Writes below one chroot. Brokers are ephemerals of sessions of their own, so they can be killed."""

    def __init__(self, client: KazooClient, address: str) -> None:
        self._client = client
        self._address = address
        self._sessions: dict[int, KazooClient] = {}
        for path in (
            "/brokers/ids",
            "/brokers/topics",
            "/admin/delete_topics",
            "/config/topics",
            "/consumers",
        ):
            client.ensure_path(path)
        self._put("/controller_epoch", b"1")
        self._put("/cluster/id", _json({"version": "1", "id": "a-cluster-id-of-22-ch"}))

    def broker(self, number: int, *, controller: bool = False) -> None:
        """Register a broker (and let it be the controller), ephemeral."""
        session = self._sessions[number] = KazooClient(hosts=self._address, timeout=10.0)
        session.start(timeout=60.0)
        endpoint = f"PLAINTEXT://broker-{number}.example:9092"
        value = {
            "version": 5,
            "host": f"broker-{number}.example",
            "port": 9092,
            "jmx_port": -1,
            "timestamp": "1525741823119",
            "endpoints": [endpoint],
            "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
            "features": {},
        }
        session.create(f"/brokers/ids/{number}", _json(value), ephemeral=True)
        if controller:
            value = {
                "version": 2,
                "brokerid": number,
                "timestamp": "1525741823119",
                "kraftControllerEpoch": -1,
            }
            session.create("/controller", _json(value), ephemeral=True)

    def kill_broker(self, number: int) -> None:
        """End a broker's session: ZooKeeper removes its ephemerals."""
        session = self._sessions.pop(number)
        session.stop()
        session.close()

    def topic(self, name: str, assignment: Mapping[int, Sequence[int]]) -> None:
        """Create a topic with all partitions in sync, led by their first replica."""
        partitions = {str(number): list(replicas) for number, replicas in assignment.items()}
        value = {"version": 2, "partitions": partitions, "adding_replicas": {}, "removing_replicas": {}}
        self._put(f"/config/topics/{name}", _json({"version": 1, "config": {}}))
        self._put(f"/brokers/topics/{name}", _json(value))
        for number, replicas in assignment.items():
            self.state(name, number, leader=replicas[0], isr=replicas)

    def state(self, topic: str, partition: int, *, leader: int, isr: Sequence[int], epoch: int = 0) -> None:
        """Write a partition's state."""
        value = {
            "controller_epoch": 1,
            "leader": leader,
            "version": 1,
            "leader_epoch": epoch,
            "isr": list(isr),
        }
        self._put(f"/brokers/topics/{topic}/partitions/{partition}/state", _json(value))

    def close(self) -> None:
        for number in tuple(self._sessions):
            self.kill_broker(number)

    def _put(self, path: str, data: bytes) -> None:
        if self._client.exists(path):
            self._client.set(path, data)
        else:
            self._client.create(path, data, makepath=True)


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
