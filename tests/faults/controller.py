"""What plays Kafka's controller: it consumes what is asked for by znodes, and counts it.

Deliberately not the demo's: it knows nothing of ours, and takes whatever is written as often as it is there.
"""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from typing import Any, Self

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

REASSIGNMENT = "/admin/reassign_partitions"
ELECTION = "/admin/preferred_replica_election"
DELETIONS = "/admin/delete_topics"


class Controller:
    """`taken` counts by (what, topic, partition) how often it was asked for; `rest` lets requests lie.

    `pause_s` is the longest it waits before it acts, drawn anew for each request.
    """

    def __init__(self, address: str, seed: int = 0, pause_s: float = 0.0) -> None:
        self.taken: Counter[tuple[str, str, int]] = Counter()
        self.failures: list[BaseException] = []
        self._random, self._pause_s = random.Random(seed), pause_s  # noqa: S311 - a replay, no secret
        self._client = KazooClient(hosts=address, timeout=10.0)
        self._stirred, self._over = threading.Event(), threading.Event()
        self._acts = threading.Event()
        self._acts.set()
        self._thread = threading.Thread(target=self._run, name="controller")

    def __enter__(self) -> Self:
        self._client.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._acts.set()
        self._stirred.set()
        self._thread.join()
        self._client.stop()
        self._client.close()
        if self.failures:
            raise self.failures[0]

    def rest(self) -> None:
        """Let requests lie from now on."""
        self._acts.clear()

    def act(self) -> None:
        self._acts.set()

    def _run(self) -> None:
        try:
            while not self._over.is_set():
                self._stirred.clear()
                if not self._turn():
                    self._stirred.wait()
        except BaseException as error:
            self.failures.append(error)

    def _turn(self) -> bool:
        """Take what there is; False where there was nothing."""
        asked = [path for path in (REASSIGNMENT, ELECTION) if self._client.exists(path, watch=self._stir)]
        marked = self._client.get_children(DELETIONS, watch=self._stir)
        if not asked and not marked:
            return False
        if self._pause_s:
            self._over.wait(self._random.uniform(0, self._pause_s))
        self._acts.wait()
        if self._over.is_set():
            return True
        for path in asked:
            self._take(path)
        for topic in marked:
            self._forget(topic)
        return True

    def _take(self, path: str) -> None:
        try:
            entries = json.loads(self._client.get(path)[0])["partitions"]
        except NoNodeError:
            return
        for entry in entries:
            self.taken[path, entry["topic"], entry["partition"]] += 1
            if path == REASSIGNMENT:
                self._move(entry["topic"], entry["partition"], entry["replicas"])
        self._client.delete(path)

    def _move(self, topic: str, partition: int, replicas: list[int]) -> None:
        path = f"/brokers/topics/{topic}"
        data, stat = self._client.get(path)
        document: dict[str, Any] = json.loads(data)
        document["partitions"][str(partition)] = replicas
        self._client.set(path, json.dumps(document).encode(), version=stat.version)

    def _forget(self, topic: str) -> None:
        self.taken[DELETIONS, topic, 0] += 1
        for path in (f"/brokers/topics/{topic}", f"/config/topics/{topic}", f"{DELETIONS}/{topic}"):
            if self._client.exists(path):
                self._client.delete(path, recursive=True)

    def _stir(self, _event: object) -> None:
        self._stirred.set()
