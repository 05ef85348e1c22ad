"""`manage.py demo`, as an operator starts and ends it, and who signs in there."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import forking
from tests.management.test_serve import Browser
from tests.processes import inherited
from tests.serving import DATABASE
from tests.waiting import wait_for

pytestmark = pytest.mark.zk

LIMIT_S = 60.0


class Demo:
    """A running `manage.py demo` in a process group of its own, as a terminal gives it one."""

    def __init__(self, data: Path, *arguments: str, **environ: str) -> None:
        self.data = data
        self._out = data.parent / f"{data.name}.out"
        with self._out.open("wb") as out:
            self.process = forking.Process(
                ["manage.py", "demo", "--port", "0", "--seed", "4", *arguments],
                env=inherited() | {"ZKDASH_DATA": str(data)} | environ,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    @property
    def printed(self) -> str:
        return self._out.read_text()

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.address + path, timeout=LIMIT_S) as answer:  # noqa: S310 - ours
            return str(answer.read(), "utf-8")

    @property
    def address(self) -> str:
        """Where it serves, once it says so."""
        found = wait_for(
            lambda: re.search(r"zkdash serves (http://127\.0\.0\.1:\d+)/", self.printed),
            LIMIT_S,
            lambda: self.printed[-4000:],
        )
        return found[1]

    @property
    def records(self) -> bool:
        """Whether what happens in it was ever recorded."""
        return (self.data / "demo" / "history" / "demo" / "recorder.lock").exists()

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
        return self.process.wait(LIMIT_S)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """A demo for tests that leave it as it is, ended as by Ctrl-C."""
    with _ended(Demo(tmp_path_factory.mktemp("demo") / "data")) as demo:
        wait_for(lambda: "clickstream" in demo.get("/c/demo/topics/"), LIMIT_S, lambda: demo.printed[-4000:])
        yield demo
        _end(demo, signal.SIGINT)


@contextlib.contextmanager
def _ended(demo: Demo) -> Iterator[Demo]:
    """The demo is gone after the block, whatever happened in it."""
    try:
        yield demo
    finally:
        demo.process.kill()
        demo.process.wait(LIMIT_S)


def _end(demo: Demo, number: signal.Signals) -> None:
    """It ends by that signal, cleanly, with everything that it started."""
    assert demo.zookeeper_serves
    assert demo.end(number) == 0, demo.printed[-4000:]
    wait_for(lambda: not demo.zookeeper_serves, LIMIT_S)  # a process that was slow to end leaves it behind
    _has_said_nothing_more(demo)


def _has_said_nothing_more(demo: Demo) -> None:
    """The terminal is left as it was: nothing stands on it but what is announced, and what is normal."""
    lines = [line for line in demo.printed.splitlines() if not re.match(r"[-\d]+T[.:\d]+Z INFO ", line)]
    announced = ["zkdash serves http", "Everybody may look.", "The cluster is simulated"]
    assert [line[: len(begun)] for line, begun in zip(lines, announced, strict=False)] == announced[
        : len(lines)
    ]
    assert len(lines) <= len(announced), demo.printed[-4000:]


def test_the_demo_shows_its_cluster_and_the_lags_of_its_groups(shown: Demo) -> None:
    assert "<h1" in shown.get("/c/demo/")
    wait_for(lambda: shown.lags("fulfilment"), LIMIT_S, lambda: shown.printed[-4000:])


def test_the_demo_records(shown: Demo) -> None:
    wait_for(lambda: shown.records, LIMIT_S, lambda: shown.printed[-4000:])


def test_the_demo_is_open_to_look_at_and_gives_its_visitor_a_link_to_act(shown: Demo) -> None:
    [path] = re.findall(rf"{shown.address}(/welcome/\S+)", shown.printed)
    browser = Browser(shown.address)
    assert browser.get("/c/demo/")[0] == 200
    assert browser.get("/c/demo/actions/new/")[1].count("<h1>Sign in</h1>") == 1
    assert browser.post(path)[0] == 200
    assert "<bdi>demo</bdi>" in browser.get("/c/demo/actions/new/")[1]
    # Its rows are its own and end with it: what is configured for `serve` stays untouched.
    assert [one.name for one in shown.data.glob("*.sqlite3")] == []
    with contextlib.closing(sqlite3.connect(shown.data / "demo" / DATABASE)) as rows:
        assert rows.execute("SELECT username FROM auth_user").fetchall() == [("demo",)]


def test_a_second_demo_in_the_same_directory_is_refused_in_words(shown: Demo) -> None:
    second = forking.run(
        ["manage.py", "demo", "--port", "0"],
        env=os.environ | {"ZKDASH_DATA": str(shown.data)},
        timeout=LIMIT_S,
    )
    assert second.returncode == 1
    assert f"Another demo runs in {shown.data}." in second.stderr
    shown.get("/c/demo/")


def test_the_demo_of_0_7_shows_its_brokers_topics_and_groups_and_records_nothing_where_told(
    tmp_path: Path,
) -> None:
    with _ended(Demo(tmp_path / "data", "--layout", "0.7", ZKDASH_RECORD="0")) as demo:
        wait_for(
            lambda: "ad-impressions" in demo.get("/c/demo/topics/"), LIMIT_S, lambda: demo.printed[-4000:]
        )
        assert "kafka10.feed.internal" in demo.get("/c/demo/brokers/")
        assert "hadoop-loader" in demo.get("/c/demo/groups/")
        _end(demo, signal.SIGTERM)
        assert not demo.records


def test_a_demo_that_is_told_to_end_while_it_starts_does_so_cleanly(tmp_path: Path) -> None:
    with _ended(Demo(tmp_path / "data")) as demo:
        wait_for(lambda: demo.zookeeper_serves, LIMIT_S, lambda: demo.printed)
        assert demo.end(signal.SIGTERM) == 0, demo.printed[-4000:]
        wait_for(lambda: not demo.zookeeper_serves, LIMIT_S)
        _has_said_nothing_more(demo)
