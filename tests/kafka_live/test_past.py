"""What happened to real brokers, told afterwards: each moment as a client read it then.

The dashboard recorded it while it was compared with Kafka's own tools, and ZooKeeper's logs hold it too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import pytest
from django.test import Client

from tests import full
from tests.kafka_live import cells
from tests.kafka_live.playing import Played
from tests.live.past.story import Dump
from tests.live.past.test_reels import meaning, reels
from tests.serving import starter
from tests.web.conftest import _anonymous_read, _empty_board, _nothing_grows_stale
from tests.web.past.test_served_past import Told, check_differences, check_pages
from zkdash.cluster.changes import row
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.configuration.file import DEFAULT_NAME
from zkdash.demo.zookeeper.server import Server
from zkdash.live.tree.znodes import is_mirrored
from zkdash.pipeline import jobs
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.znode import Batch, Znode

__all__ = ["_anonymous_read", "_empty_board", "_nothing_grows_stale"]

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.zk,
    pytest.mark.parametrize("release", cells.ALWAYS, indirect=True, scope="session"),
]

# All pages of so many moments are compared in a full run.
MOMENTS: Final = 20


@pytest.fixture(scope="session")
def logged(
    zookeeper: Server, played: Played, spark: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Told]:
    """The era's cluster as ZooKeeper's own logs tell it, and nothing else."""
    below = tmp_path_factory.mktemp("logs")
    servers, chroot = parse_address(played.address)
    files = (str(zookeeper.data_dir),)
    config = ClusterConfig(DEFAULT_NAME, servers, chroot, transaction_logs=files)
    jobs.load(spark, config, below / "history", lambda _what, _done: None)
    with starter(below) as start:
        site = start(
            ZKDASH_ZOOKEEPER=played.address, ZKDASH_HISTORY=below / "history", options=["--no-record"]
        )
        site.wait_until_loaded()
        yield Told(site, [*played.dumps], below / "history", played.address)


@pytest.fixture(params=full.pick(("recorder",), ("recorder", "logs")))
def told(request: pytest.FixtureRequest, played: Played) -> Told:
    """The era's cluster as its dashboard recorded it, or as logs have it, with the moments that were read."""
    if played.life:
        raise played.life
    if request.param == "logs":
        return cast("Told", request.getfixturevalue("logged"))
    dashboard, history = request.getfixturevalue("dashboard"), request.getfixturevalue("history")
    dumps = [Dump(dump.name, dump.zxid, mirrored(dump.znodes)) for dump in played.dumps]
    return Told(dashboard, dumps, history, played.address)


def mirrored(znodes: Mapping[str, Znode]) -> dict[str, Znode]:
    """Those of a tree that a watcher knows."""
    return {path: znode for path, znode in znodes.items() if is_mirrored(path)}


def check_trees(dumps: Sequence[Dump], history: Path) -> None:
    """See that each moment has the znodes and means what was read then: by steps, back, and by itself.

    A watcher knows what children there are, and not how often one came and went since it looked last.
    """
    forward, backward = reels(history), reels(history)
    ways = [(forward, dump) for dump in dumps]
    ways += [(backward, dump) for dump in full.pick(dumps[::-4], dumps[::-1])]
    ways += [(reels(history), dump) for dump in full.pick((), dumps)]
    for past, dump in ways:
        was = past.at(DEFAULT_NAME, "", zxid=dump.zxid)
        then = dump.znodes
        if was.past.around.source == row.WATCHED:
            assert _without_counts(was.znodes) == _without_counts(then), dump.name
        else:
            assert was.znodes == then, dump.name
        state, _ = advance.advance(ClusterState(), Batch(mirrored(dump.znodes), dump.zxid, whole=True))
        assert meaning(was.snapshot.state) == meaning(state), dump.name


def _without_counts(znodes: Mapping[str, Znode]) -> dict[str, Znode]:
    """A tree without what counts the children that came and went, and tells of the last."""
    return {
        path: Znode.of(znode.data, znode.stat._replace(cversion=0, pzxid=0)) for path, znode in znodes.items()
    }


def test_moments_tell_a_story(played: Played) -> None:
    """So that what is compared is worth it."""
    named = {dump.name: dump.znodes for dump in played.dumps}
    assert len(named) == len(played.dumps) >= 10
    assert "/brokers/topics/life" in named["topic made"]
    assert named["move asked for"]["/brokers/topics/life"] != named["partition added"]["/brokers/topics/life"]
    assert "/brokers/ids/3" not in named["others told"]
    assert "/brokers/ids/3" in named["broker back"]
    assert "/brokers/topics/life" not in named["topic deleted"]


def test_each_moment_of_real_brokers_is_as_it_was_read_then(told: Told) -> None:
    was = told.json(f"/c/{DEFAULT_NAME}/", told.dumps[-1].zxid)  # which has it written
    assert was["past"]["zxid"] == told.dumps[-1].zxid
    check_trees(told.dumps, told.history)


def test_every_page_of_a_moment_is_as_it_was_read_then(
    told: Told, client: Client, request: pytest.FixtureRequest
) -> None:
    by = request.node.callspec.params["told"]
    for dump in full.pick([told.named("others told")], told.dumps[:: max(1, len(told.dumps) // MOMENTS)]):
        assert check_pages(told, dump, client) == {by}


def test_differences_of_two_moments_are_those_of_their_dumps(told: Told) -> None:
    pairs = list(itertools.combinations(told.dumps, 2))
    for before, after in pairs[:: max(1, len(pairs) // full.pick(4, 60))]:
        check_differences(told, before, after)
