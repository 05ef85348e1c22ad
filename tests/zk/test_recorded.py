"""The recorded trees of real clusters are mirrored as they were, by every release of ZooKeeper.

From the one that the product brings all of them, from an old one those that represent them, in full all.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import recorded
from tests.lab import zookeeper
from tests.zk import witness
from zkdash.demo.zookeeper import Server
from zkdash.zk.mirror import results

pytestmark = pytest.mark.zk


@pytest.fixture(scope="module")
def server(zookeeper_release: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that started from the one snapshot of all trees."""
    data_dir = tmp_path_factory.mktemp("recorded")
    recorded.write_snapshot(data_dir)
    with Server(data_dir, classpath=zookeeper.classpath(zookeeper_release)) as running:
        yield running


@pytest.mark.parametrize("zookeeper_release", zookeeper.RELEASES, indirect=True, scope="session")
def test_the_recorded_trees_are_mirrored_with_every_field_of_their_stats(
    server: Server, zookeeper_release: str
) -> None:
    for name in recorded.TREES if zookeeper_release == zookeeper.BUNDLED else recorded.TRIED:
        with witness.mirroring(f"{server.address}/{name}", ("/",)) as (mirror, seen):
            witness.wait_live(mirror)
            tree = recorded.load(name)
            assert seen.state == {path: results.value(path, znode) for path, znode in tree.items()}, name
