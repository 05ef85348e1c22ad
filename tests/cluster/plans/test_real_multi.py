"""The steps of every kind as multis of a real ZooKeeper: it does with them what the tests' tree does."""

from __future__ import annotations

from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException

from tests.cluster.plans import cells, worlds
from tests.cluster.plans.worlds import Refused
from tests.conftest import Chroot
from zkdash.cluster.plans.values import Step
from zkdash.kafka.payloads import config_notifications, editing
from zkdash.znode import Operation, Stat, Znode

pytestmark = pytest.mark.zk
ROOTS = ("admin", "brokers", "config", "consumers", "controller", "controller_epoch")


def commit(client: KazooClient, step: Step) -> list[Any]:
    """The step as one transaction; what it answered for each write."""
    transaction = client.transaction()
    for write in step.writes:
        data = write.after
        if write.edit is not None:
            now = client.get(write.path)[0] if write.operation is Operation.SET else None
            data = editing.merge_config(now, write.edit.put, write.edit.drop)
        if write.operation is Operation.CREATE:
            transaction.create(write.path, data or b"", sequence=write.sequential)
        elif write.operation is Operation.SET:
            transaction.set_data(write.path, data, version=write.expected)
        elif write.operation is Operation.DELETE:
            transaction.delete(write.path, version=write.expected)
        else:
            transaction.check(write.path, write.expected)
    return [answer for answer in transaction.commit() if isinstance(answer, KazooException)]


def copied(client: KazooClient, tree: worlds.Tree) -> None:
    """The tree written into ZooKeeper; ephemeral where it says so, so that versions begin at 0."""
    for path in sorted(tree.znodes):
        znode = tree.znodes[path]
        client.create(path, znode.data or b"", ephemeral=bool(znode.ephemeral_owner), makepath=True)


def read(client: KazooClient) -> worlds.Tree:
    """Everything below the chroot, as a tree of the tests."""
    tree = worlds.Tree()
    waiting = [f"/{root}" for root in ROOTS if client.exists(f"/{root}")]
    while waiting:
        path = waiting.pop()
        data, stat = client.get(path)
        of = (stat.version, stat.cversion, stat.aversion, stat.ephemeralOwner, stat.dataLength)
        tree.znodes[path] = Znode.of(
            data, Stat(stat.czxid, stat.mzxid, stat.ctime, stat.mtime, *of, stat.numChildren, stat.pzxid)
        )
        tree.zxid = max(tree.zxid, stat.mzxid)
        waiting += [f"{path}/{child}" for child in client.get_children(path)]
    return tree


def plain(tree: worlds.Tree) -> dict[str, bytes | None]:
    """Data by path; a notification by its order, not by its number."""
    told = sorted(path for path in tree.znodes if path.startswith(config_notifications.PREFIX))
    names = {path: f"{config_notifications.PREFIX}{at}" for at, path in enumerate(told)}
    return {names.get(path, path): znode.data or None for path, znode in tree.znodes.items()}


@pytest.mark.parametrize("era", ["0.8.2.2", "3.9.1"])
@pytest.mark.parametrize("kind", cells.ROWS)
def test_zookeeper_does_with_a_step_what_the_tree_does(kind: str, era: str, chroot: Chroot) -> None:
    client: KazooClient = chroot.client
    asked, change = cells.ROWS[kind]
    tree = worlds.world(era)
    if change:
        change(tree)
    copied(client, tree)
    ours = read(client)
    plan = ours.plan(asked(ours))
    for step in plan.steps:
        ours.apply(step)
        assert commit(client, step) == []
        assert plain(read(client)) == plain(ours)
        if any(write.path.startswith("/admin") for write in step.writes):
            break  # from here on a controller has to act


@pytest.mark.parametrize("kind", ["delete group", "delete a group's topic", "reset offsets"])
def test_zookeeper_refuses_a_step_where_a_consumer_has_joined(kind: str, chroot: Chroot) -> None:
    client: KazooClient = chroot.client
    copied(client, worlds.world("1.1.1"))
    ours = read(client)
    plan = ours.plan(cells.ROWS[kind][0](ours))
    client.create("/consumers/g/ids/c1", b"{}", ephemeral=True)
    before = plain(read(client))
    with pytest.raises(Refused):
        read(client).apply(plan.steps[0])
    assert commit(client, plan.steps[0])
    assert plain(read(client)) == before
