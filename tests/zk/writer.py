"""A writer that creates, sets, deletes and re-creates at random, and changes twins in one multi."""

from __future__ import annotations

import random
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.retry import KazooRetry

ROOTS = ("/brokers", "/consumers", "/config", "/controller")
TWINS = ("/brokers/twins/one", "/brokers/twins/other")
RATE = 120


class Writer:
    """Writes `RATE` times a second on a connection of its own, through every fault; `pause` for comparing."""

    def __init__(self, address: str, seed: int) -> None:
        self.client = KazooClient(
            hosts=address,
            timeout=4.0,
            connection_retry=KazooRetry(max_tries=-1, delay=0.05, max_delay=0.2, ignore_expire=True),
        )
        self.writes = 0
        self._random = random.Random(seed)  # noqa: S311 - a seeded sequence is wanted
        self._runs = threading.Event()
        self._idle = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Writer:
        self.client.start(timeout=60.0)
        for path in ("/brokers/topics", "/consumers/g/offsets/t", "/config/topics"):
            self.client.ensure_path(path)
        self.client.ensure_path("/brokers/twins")
        for twin in TWINS:
            self.client.create(twin, b"0")
        self._runs.set()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping = True
        self._runs.set()
        self._thread.join()
        self.client.stop()
        self.client.close()

    def pause(self) -> None:
        """Return once nothing is being written."""
        self._idle.clear()
        self._runs.clear()
        assert self._idle.wait(60.0), "the writer did not come to rest"

    def resume(self) -> None:
        self._runs.set()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stopping:
            if not self._runs.is_set():
                self._idle.set()
                self._runs.wait()
                due = time.monotonic()
                continue
            try:
                self._write()
                self.writes += 1
            except KazooException:
                time.sleep(0.02)
            due = max(due + 1 / RATE, time.monotonic() - 0.2)
            time.sleep(max(0.0, due - time.monotonic()))

    def _write(self) -> None:
        pick = self._random
        topic = f"/brokers/topics/t{pick.randrange(30)}"
        state = f"{topic}/partitions/{pick.randrange(3)}/state"
        data = b"%d" % pick.randrange(10**9)
        action = pick.randrange(10)
        if action < 3:
            self._put(state, data)
        elif action < 4:
            self.client.delete(topic, recursive=True)
        elif action < 5:
            self.client.delete(state)
        elif action < 6:
            self._put(f"/consumers/g/offsets/t/{pick.randrange(10)}", data)
        elif action < 7:
            self._put("/controller", data, ephemeral=True)
        elif action < 8:
            self.client.delete("/controller")
        elif action < 9:
            self._put(f"/config/topics/t{pick.randrange(30)}", data)
        else:
            multi = self.client.transaction()
            for twin in TWINS:
                multi.set_data(twin, data)
            multi.commit()

    def _put(self, path: str, data: bytes, *, ephemeral: bool = False) -> None:
        if self.client.exists(path):
            self.client.set(path, data)
        else:
            self.client.create(path, data, makepath=True, ephemeral=ephemeral)
