"""`manage.py demo` and who signs in there."""

from __future__ import annotations

import re
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.demo.test_simulation_command import Demo
from tests.management.test_serve import Browser
from tests.waiting import wait_for

pytestmark = pytest.mark.zk

LIMIT_S = 30.0


def test_the_demo_is_open_to_look_at_and_gives_its_visitor_a_link_to_act(tmp_path: Path) -> None:
    demo = Demo(tmp_path / "data")
    try:
        wait_for(lambda: "Ctrl-C" in demo.printed, LIMIT_S, lambda: demo.printed[-4000:])
        [address] = re.findall(r"zkdash serves (http://\S+)/", demo.printed)
        [path] = re.findall(rf"{address}(/welcome/\S+)", demo.printed)
        browser = Browser(address)
        assert browser.get("/c/demo/")[0] == 200
        assert browser.get("/c/demo/actions/new/")[1].count("<h1>Sign in</h1>") == 1
        assert browser.post(path)[0] == 200
        assert "<bdi>demo</bdi>" in browser.get("/c/demo/actions/new/")[1]
        # Its rows are its own and end with it: what is configured for `serve` stays untouched.
        assert [one.name for one in (tmp_path / "data").glob("*.sqlite3")] == []
        with sqlite3.connect(tmp_path / "data" / "demo" / "zkdash.sqlite3") as rows:
            assert rows.execute("SELECT username FROM auth_user").fetchall() == [("demo",)]
        rows.close()
    finally:
        demo.process.send_signal(signal.SIGTERM)
        demo.process.wait(LIMIT_S)


def _is_up(demo: Demo) -> Callable[[], bool]:
    return lambda: "Ctrl-C" in demo.printed


def _shows_orders(demo: Demo) -> Callable[[], bool]:
    return lambda: "orders" in demo.get("/c/demo/topics/")


def test_the_demo_records_unless_it_is_told_not_to(tmp_path: Path) -> None:
    demos = [Demo(tmp_path / record, ZKDASH_RECORD=record) for record in ("0", "1")]
    try:
        for demo in demos:
            wait_for(_is_up(demo), LIMIT_S, lambda: demos[0].printed[-4000:])
            wait_for(_shows_orders(demo), LIMIT_S)
    finally:
        for demo in demos:
            demo.process.send_signal(signal.SIGTERM)
        for demo in demos:
            demo.process.wait(LIMIT_S)
    locks = [demo.data / "demo" / "history" / "demo" / "recorder.lock" for demo in demos]
    assert [lock.exists() for lock in locks] == [False, True]
