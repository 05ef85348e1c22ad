"""What a mirror holds and tells while all is well, against a real ZooKeeper."""

from __future__ import annotations

import gc
import itertools
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from kazoo.security import make_digest_acl

from tests import full
from tests.conftest import Chroot
from tests.lab import snapshot, zookeeper
from tests.narrowing import sure
from tests.waiting import wait_for
from tests.zk import witness
from tests.zk.proxy import Proxy
from zkdash.demo.zookeeper.server import Server
from zkdash.zk.connection.session import Phase, Session
from zkdash.zk.mirror import mirror as mirroring
from zkdash.zk.mirror import offsets, pending
from zkdash.znode import Batch, Stat, Unreadable, Znode

pytestmark = [
    pytest.mark.zk,
    pytest.mark.parametrize("zookeeper_release", zookeeper.RELEASES, indirect=True, scope="session"),
]

ROOTS = ("/brokers", "/consumers", "/controller", "/config")
CHILDREN = 100_000
OLD_CHILDREN = full.pick(10_000, CHILDREN)

NAMES = (
    "a b",
    "100%",
    "#hash",
    "what?",
    "a;b",
    "<script>",
    "\"quoted' ",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u202eevil",
    "日本",
    "a\\b",
    "=cmd|x",
    "..hidden",
    "{brace}",
    "é",
)


def test_the_first_batch_is_the_whole_and_later_ones_are_what_changed(chroot: Chroot) -> None:
    for number in range(30):
        chroot.client.create(f"/brokers/topics/t{number}/partitions/0/state", b"x", makepath=True)
    with witness.mirroring(chroot.address, ROOTS) as (mirror, seen):
        witness.wait_live(mirror)
        assert len(seen.batches) == 1
        assert seen.batches[0].whole
        assert not seen.batches[0].settling
        assert seen.seen() == witness.walk(chroot.client, ROOTS)
        assert mirror.session.loaded == len(seen.state)
        chroot.client.set("/brokers/topics/t1/partitions/0/state", b"y")
        wait_for(lambda: len(seen.batches) == 2)
        assert seen.batches[1].changed.keys() == {"/brokers/topics/t1/partitions/0/state"}
        assert not seen.batches[1].whole
        written = sure(Znode, seen.state["/brokers/topics/t1/partitions/0/state"])
        assert seen.batches[1].zxid >= written.mzxid
        chroot.client.delete("/brokers/topics/t2", recursive=True)
        witness.wait_sees(seen, lambda state: not any("/t2/" in f"{path}/" for path in state))
        assert seen.seen() == witness.walk(chroot.client, ROOTS)
        assert dict(mirror.znodes) == seen.state


def test_a_session_tells_server_version_and_progress(chroot: Chroot, zookeeper_release: str) -> None:
    chroot.client.create("/brokers")
    with witness.mirroring(chroot.address, ROOTS) as (mirror, seen):
        witness.wait_live(mirror)
        session = mirror.session
        assert session.server == chroot.server.address
        assert session.zookeeper_version is not None
        assert session.zookeeper_version.startswith(zookeeper_release)
        assert session.session_id
        assert session.sentence == ""
        wait_for(lambda: seen.sessions[-1].phase is Phase.LIVE)
        phases = [s.phase for s in seen.sessions]
        assert phases.index(Phase.CONNECTING) < phases.index(Phase.LOADING) < phases.index(Phase.LIVE)


def test_a_reply_once_a_second_proves_the_age_and_a_frozen_link_proves_nothing(
    chroot: Chroot, request: pytest.FixtureRequest, zookeeper_release: str
) -> None:
    if zookeeper_release != zookeeper.BUNDLED:
        request.getfixturevalue("brisk")
    with Proxy(chroot.server.port) as proxy:
        address = f"127.0.0.1:{proxy.port}{chroot.path}"
        with witness.mirroring(address, ROOTS, session_timeout_s=20.0) as (mirror, seen):
            witness.wait_live(mirror)
            ticks, began = wait_for(lambda: seen.ticks), time.monotonic()
            proved = wait_for(lambda: mirror.proved_at)
            wait_for(lambda: (mirror.proved_at or 0.0) > proved)
            assert seen.ticks <= ticks + 2 + (time.monotonic() - began) / mirroring._TICK_S
            proxy.freeze()
            ticks = seen.ticks
            wait_for(lambda: seen.ticks >= ticks + 2)
            stuck = mirror.proved_at
            wait_for(lambda: seen.ticks >= ticks + 4)
            assert mirror.proved_at == stuck
            assert mirror.session.phase is Phase.LIVE


def test_every_name_and_every_kind_of_data_is_mirrored(chroot: Chroot) -> None:
    hostile = [b"", b"\x00", b"\xff\xfe{", b"[" * 10_000, b"9" * 5_000, "\u202e".encode(), b'{"a":NaN}']
    chroot.client.create("/brokers")
    for name in NAMES[::2]:
        chroot.client.create(f"/brokers/{name}", name.encode())
    with witness.mirroring(chroot.address, ROOTS) as (mirror, seen):
        witness.wait_live(mirror)
        for name in NAMES[1::2]:
            chroot.client.create(f"/brokers/{name}", name.encode())
        for number, data in enumerate(hostile):
            chroot.client.create(f"/brokers/{NAMES[0]}/{number}", data)
        witness.wait_proved(mirror, delay_s=0.0)
        assert seen.seen() == witness.walk(chroot.client, ROOTS)
        assert len(seen.seen()) == 1 + len(NAMES) + len(hostile)


def test_a_znode_of_one_mebibyte_is_mirrored_among_small_ones(chroot: Chroot) -> None:
    big = b"x" * (1024 * 1024 - 200)
    chroot.client.create("/brokers")
    for number in range(200):
        chroot.client.create(f"/brokers/{number}", big if number % 20 == 0 else b"small")
    with witness.mirroring(chroot.address, ROOTS) as (mirror, seen):
        witness.wait_live(mirror)
        assert seen.seen() == witness.walk(chroot.client, ROOTS)
        chroot.client.set("/brokers/7", big)
        chroot.client.create("/brokers/new", big)
        witness.wait_proved(mirror, delay_s=0.0)
        assert seen.seen() == witness.walk(chroot.client, ROOTS)


def test_a_hundred_thousand_children_are_mirrored(
    own_server: Callable[..., Server], zookeeper_release: str, tmp_path: Path
) -> None:
    """On an old release, which answers for each of them, a tenth of that in every run."""
    count = CHILDREN if zookeeper_release == zookeeper.BUNDLED else OLD_CHILDREN

    def znode(children: int = 0) -> Znode:
        return Znode.of(b"", Stat(1, 1, 1, 1, 0, children, 0, 0, 0, children, 1))

    wide = [("/", znode(1)), ("/brokers", znode(count))]
    wide += [(f"/brokers/a-child-with-a-rather-long-name-{number}", znode()) for number in range(count)]
    snapshot.write(tmp_path / "wide" / "version-2", wide, {})
    server = own_server(tmp_path / "wide", heap_mb=512)
    with witness.mirroring(server.address, ROOTS, session_timeout_s=6.0) as (mirror, seen):
        witness.wait_live(mirror)
        assert len(seen.state) == count + 1


def test_a_protected_znode_is_unreadable_and_harms_no_other(chroot: Chroot) -> None:
    chroot.client.create("/brokers/topics/open", b"1", makepath=True)
    chroot.client.create("/brokers/topics/closed", b"2", acl=[make_digest_acl("me", "pw", all=True)])
    with witness.mirroring(chroot.address, ROOTS) as (mirror, seen):
        witness.wait_live(mirror)
        closed = seen.get("/brokers/topics/closed")
        assert isinstance(closed, Unreadable)
        assert "/brokers/topics/closed" in closed.reason
        assert isinstance(seen.get("/brokers/topics/open"), Znode)
    with witness.mirroring(chroot.address, ROOTS, auth=("digest", "me:pw")) as (mirror, seen):
        witness.wait_live(mirror)
        closed = seen.get("/brokers/topics/closed")
        assert isinstance(closed, Znode)
        assert closed.data == b"2"
    chroot.client.add_auth("digest", "me:pw")
    chroot.client.delete("/brokers/topics/closed")


def test_a_znode_that_becomes_readable_is_read_though_an_acl_is_no_event(
    chroot: Chroot, brisk: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirroring, "_REFUSED_AGAIN_S", 0.5)
    chroot.client.create("/brokers", b"2", acl=[make_digest_acl("me", "pw", all=True)])
    chroot.client.add_auth("digest", "me:pw")
    with witness.mirroring(chroot.address, ROOTS) as (mirror, seen):
        witness.wait_live(mirror)
        assert isinstance(seen.get("/brokers"), Unreadable)
        chroot.client.set_acls("/brokers", chroot.client.default_acl or witness.OPEN)
        wait_for(lambda: isinstance(seen.get("/brokers"), Znode))


def test_secrets_stop_before_they_are_held(chroot: Chroot) -> None:
    secret = b'{"version":1,"config":{"SCRAM-SHA-256":"canary","producer_byte_rate":"10"}}'
    chroot.client.create("/config/users/before", secret, makepath=True)
    with witness.mirroring(chroot.address, ROOTS) as (mirror, seen):
        witness.wait_live(mirror)
        chroot.client.create("/config/users/after", secret)
        witness.wait_sees(seen, lambda state: "/config/users/after" in state)
        for path in ("/config/users/before", "/config/users/after"):
            value = bytes(sure(Znode, seen.get(path)))
            assert b"canary" not in value
            assert b'"producer_byte_rate":"10"' in value
            assert b"canary" not in bytes(sure(Znode, mirror.znodes[path]))


def test_offsets_are_taken_once_a_second_and_their_multi_whole(chroot: Chroot) -> None:
    client = chroot.client
    client.create("/consumers/g/offsets/t/0", b"0", makepath=True)
    client.create("/brokers", b"0")
    with witness.mirroring(chroot.address, ROOTS) as (mirror, seen):
        witness.wait_live(mirror)
        began = time.monotonic()
        for number in range(200):
            client.set("/consumers/g/offsets/t/0", b"%d" % number)
        witness.wait_sees(seen, lambda state: state["/consumers/g/offsets/t/0"][0] == b"199")
        most = 2 + (time.monotonic() - began) / offsets.DELAY_S
        assert sum("/consumers/g/offsets/t/0" in batch.changed for batch in seen.batches[1:]) <= most
        before = len(seen.batches)
        multi = client.transaction()
        multi.set_data("/consumers/g/offsets/t/0", b"multi")
        multi.set_data("/brokers", b"multi")
        multi.commit()
        wait_for(lambda: len(seen.batches) > before)
        assert seen.batches[before].changed.keys() == {"/consumers/g/offsets/t/0", "/brokers"}


def test_batches_are_at_least_50_ms_apart_and_a_multi_shows_whole(
    chroot: Chroot, monkeypatch: pytest.MonkeyPatch
) -> None:
    twins = ("/brokers/one", "/brokers/other")
    for twin in twins:
        chroot.client.create(twin, b"0", makepath=True)
    moments: list[float] = []
    published = pending.Pending.published

    def notes(batch: pending.Pending, now: float, *, settling: bool) -> None:
        moments.append(now)
        published(batch, now, settling=settling)

    monkeypatch.setattr(pending.Pending, "published", notes)
    with witness.mirroring(chroot.address, ROOTS, sink=witness.Witness(twins)) as (mirror, seen):
        witness.wait_live(mirror)

        def wrote(number: int) -> bool:
            """Another multi; whether there were enough, and several batches came meanwhile."""
            multi = chroot.client.transaction()
            for twin in twins:
                multi.set_data(twin, b"%d" % number)
            multi.commit()
            return number >= 500 and len(seen.batches) > 4

        numbers = itertools.count()
        wait_for(lambda: wrote(next(numbers)), every_s=0)
        last = b"%d" % (next(numbers) - 1)
        witness.wait_sees(seen, lambda state: state[twins[0]][0] == state[twins[1]][0] == last)
        assert not seen.faults
        gaps = [later - earlier for earlier, later in itertools.pairwise(moments[1:])]
        assert min(gaps) >= pending.SPACING_S * 0.999


def test_a_sink_that_fails_once_gets_everything_afterwards(chroot: Chroot) -> None:
    chroot.client.create("/brokers", b"0")

    class Failing(witness.Witness):
        failures = 0

        def batch(self, batch: Batch) -> None:
            if not batch.whole and not self.failures:
                self.failures += 1
                raise RuntimeError("planted")
            super().batch(batch)

    sink = Failing()
    with witness.mirroring(chroot.address, ROOTS, sink=sink) as (mirror, seen):
        witness.wait_live(mirror)
        chroot.client.set("/brokers", b"1")
        wait_for(lambda: sink.failures)
        witness.wait_sees(seen, lambda state: state["/brokers"][0] == b"1")
        witness.wait_live(mirror)


def test_it_stops_at_once_and_leaves_neither_thread_nor_paused_collector(chroot: Chroot) -> None:
    before = set(threading.enumerate())
    with witness.mirroring(chroot.address, ROOTS) as (mirror, _):
        witness.wait_live(mirror)
        began = time.monotonic()
    assert time.monotonic() - began < 30.0
    wait_for(lambda: set(threading.enumerate()) <= before)
    assert gc.isenabled()


def test_a_session_is_a_value_that_is_replaced(chroot: Chroot) -> None:
    with witness.mirroring(chroot.address, ROOTS) as (mirror, _):
        first = mirror.session
        witness.wait_live(mirror)
        assert isinstance(first, Session)
        assert first is not mirror.session
        with pytest.raises(AttributeError):
            first.phase = Phase.LOST  # type: ignore[misc]
