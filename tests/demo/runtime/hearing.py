"""Waiting until all have acted upon what ZooKeeper told them: a stepped clock is ahead of its events."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable
from typing import Any

from kazoo.exceptions import ConnectionClosedError, ConnectionLoss, SessionExpiredError
from kazoo.protocol.states import Callback

from zkdash.demo.base_cluster import BaseCluster
from zkdash.demo.runtime.event_loop import EventLoop
from zkdash.demo.runtime.session import Session


def hear_all(cluster: BaseCluster) -> None:
    """As `hear`, of every broker and consumer of a simulation."""
    participants: Iterable[Any] = (*cluster.brokers.values(), *cluster.groups.members.values())
    hear(cluster.loop, (each._session for each in participants))


def hear(loop: EventLoop, sessions: Iterable[Session | None]) -> None:
    """Return once earlier events of these sessions were handled on the loop: a reply comes after them."""
    for session in sessions:
        client = session and session._client
        if client and client.connected:
            heard = threading.Event()
            with contextlib.suppress(ConnectionLoss, SessionExpiredError, ConnectionClosedError):
                client.exists("/")
                client.handler.dispatch_callback(Callback("watch", heard.set, ()))
                heard.wait(60.0)
    loop.run(lambda: None)
