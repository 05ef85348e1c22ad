"""Somebody else's session ended, on servers of every release."""

from __future__ import annotations

import pytest
from kazoo.client import KazooClient, KazooState
from kazoo.retry import KazooRetry

from tests.conftest import Chroot
from tests.lab import sessions, zookeeper
from tests.waiting import wait_for

pytestmark = pytest.mark.zk


@pytest.mark.parametrize("zookeeper_release", zookeeper.RELEASES, indirect=True, scope="session")
def test_what_a_session_holds_goes_and_its_client_is_told(chroot: Chroot, zookeeper_release: str) -> None:
    # it does not come back while its session is being ended
    holder = KazooClient(chroot.address, timeout=30.0, connection_retry=KazooRetry(max_tries=-1, delay=2.0))
    told: list[str] = []
    holder.add_listener(told.append)
    holder.start(timeout=60.0)
    try:
        holder.create("/held", ephemeral=True)
        sessions.end(chroot.address, chroot.client.get("/held")[1].ephemeralOwner)
        assert chroot.client.exists("/held") is None
        wait_for(lambda: KazooState.LOST in told, 60.0, lambda: told)
    finally:
        holder.stop()
        holder.close()
