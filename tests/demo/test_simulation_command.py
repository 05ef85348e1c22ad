"""`manage.py demo`, as an operator starts and ends it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.waiting import wait_for

pytestmark = pytest.mark.zk

ROOT = Path(__file__).resolve().parents[2]
FIRST_PAGE_S = 15.0
END_S = 20.0


class Demo:
    """A running `manage.py demo` in a process group of its own, as a terminal gives it one."""

    def __init__(self, data: Path, *arguments: str, **environ: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ZKDASH_")}
        self.data = data
        self.started = time.monotonic()
        self._out = data.parent / f"{data.name}.out"
        with self._out.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "demo", "--port", "0", "--seed", "4", *arguments],
                cwd=ROOT,
                env=inherited | {"ZKDASH_DATA": str(data)} | environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def printed(self) -> str:
        return self._out.read_text()

    def get(self, path: str) -> str:
        address = wait_for(
            lambda: re.search(r"http://127\.0\.0\.1:\d+", self.printed), 30, lambda: self.printed[-4000:]
        )
        with urllib.request.urlopen(address[0] + path, timeout=10) as answer:  # noqa: S310 - ours
            return str(answer.read(), "utf-8")

    def lags(self, group: str) -> list[int]:
        """What a group has left to read, once that is known of every partition."""
        rows = json.loads(self.get(f"/c/demo/groups/{group}/?format=json"))["rows"]
        found = [row["lag"] for row in rows if isinstance(row["lag"], int) and row["lag"] > 0]
        return found if len(found) == len(rows) else []

    @property
    def zookeeper_serves(self) -> bool:
        """Whether the ZooKeeper that it started, by its own configuration, can be reached."""
        config = self.data / "demo" / "zookeeper" / "zoo.cfg"
        port = re.search(r"clientPort=(\d+)", config.read_text() if config.exists() else "")
        if port is None:
            return False
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", int(port[1]))) == 0

    def end(self, number: signal.Signals) -> int:
        """Signal the group, as a terminal does for Ctrl-C, and wait for the end."""
        os.killpg(self.process.pid, number)
        return self.process.wait(END_S)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Callable[..., Demo]]:
    started: list[Demo] = []

    def start(*arguments: str) -> Demo:
        started.append(Demo(tmp_path / "data", *arguments))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait(END_S)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_demo_shows_its_cluster_soon_and_ends_with_everything_it_started(
    demo: Callable[..., Demo], number: signal.Signals
) -> None:
    shown = demo()
    page = shown.get("/c/demo/")
    assert time.monotonic() - shown.started < FIRST_PAGE_S
    assert "<h1" in page
    wait_for(lambda: "clickstream" in shown.get("/c/demo/topics/"), 10, lambda: shown.printed[-4000:])
    assert shown.zookeeper_serves
    wait_for(lambda: shown.lags("fulfilment"), 20, lambda: shown.printed[-4000:])
    assert shown.end(number) == 0, shown.printed[-4000:]
    assert not shown.zookeeper_serves
    assert "Traceback" not in shown.printed


def test_the_demo_of_0_7_shows_its_brokers_topics_and_groups(demo: Callable[..., Demo]) -> None:
    shown = demo("--layout", "0.7")
    wait_for(lambda: "ad-impressions" in shown.get("/c/demo/topics/"), 10, lambda: shown.printed[-4000:])
    assert "kafka10.feed.internal" in shown.get("/c/demo/brokers/")
    assert "hadoop-loader" in shown.get("/c/demo/groups/")
    assert shown.end(signal.SIGTERM) == 0, shown.printed[-4000:]
    assert "Traceback" not in shown.printed


def test_a_demo_that_is_told_to_end_while_it_starts_does_so_cleanly(demo: Callable[..., Demo]) -> None:
    shown = demo()
    wait_for(lambda: shown.zookeeper_serves, 15, lambda: shown.printed)
    assert shown.end(signal.SIGTERM) == 0, shown.printed[-4000:]
    wait_for(lambda: not shown.zookeeper_serves, 5)
    assert "Traceback" not in shown.printed


def test_a_second_demo_in_the_same_directory_is_refused_in_words(demo: Callable[..., Demo]) -> None:
    first = demo()
    wait_for(lambda: first.zookeeper_serves, 15, lambda: first.printed)
    second = subprocess.run(
        [sys.executable, "manage.py", "demo", "--port", "0"],
        cwd=ROOT,
        env=os.environ | {"ZKDASH_DATA": str(first.data)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert second.returncode == 1
    assert f"Another demo runs in {first.data}." in second.stderr
    first.get("/c/demo/")
