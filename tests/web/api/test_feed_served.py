"""The feed of a served process that follows a real ZooKeeper, over a real connection."""

from __future__ import annotations

import json
import time
import urllib.request
from http.client import HTTPResponse

import pytest

from tests.conftest import Chroot
from tests.serving import Serve, served

__all__ = ["served"]


def _until(feed: HTTPResponse, text: str) -> str:
    """The id that comes with the first change whose sentence holds a text."""
    place = ""
    for line in feed:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "id":
            place = value
        if field == "data" and text in json.loads(value).get("path", ""):
            return place
    raise AssertionError("the feed ended")


def _topic(chroot: Chroot, name: str) -> None:
    chroot.client.create(f"/brokers/topics/{name}", b'{"version":1,"partitions":{"0":[1]}}', makepath=True)


@pytest.mark.zk
def test_a_program_follows_comes_back_and_holds_no_process_up(chroot: Chroot, served: Serve) -> None:
    chroot.client.create("/brokers/topics", makepath=True)
    server = served(ZKDASH_ZOOKEEPER=chroot.address)
    server.wait_until_loaded()
    address = f"{server.address}/c/default/feed/"
    with urllib.request.urlopen(address, timeout=60) as feed:  # noqa: S310 - ours
        assert b"event: begin\n" in (feed.readline(), *(feed.readline() for _ in range(4)))
        _topic(chroot, "orders")
        place = _until(feed, "/orders")
    _topic(chroot, "payments")
    request = urllib.request.Request(address, headers={"Last-Event-ID": place})  # noqa: S310 - ours
    with urllib.request.urlopen(request, timeout=60) as feed:  # noqa: S310 - ours
        assert _until(feed, "/payments") > place
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 8
        # one that held the process up would be cut off, which raises IncompleteRead
        assert b"" in (feed.readline(), feed.read())
