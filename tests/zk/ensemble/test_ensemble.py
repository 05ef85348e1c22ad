"""A real ensemble, looked at while its servers are killed, frozen and kept from telling."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient

from tests.conftest import TICK_MS, Chroot
from tests.lab.ensemble import Ensemble
from tests.waiting import wait_for
from tests.zk import fake, witness
from zkdash.cluster.ensemble.values import Ensemble as Known
from zkdash.cluster.ensemble.values import Thresholds
from zkdash.demo.zookeeper.server import Server
from zkdash.formats.ensemble.values import Quota, Reach
from zkdash.formats.ensemble.values import Server as Told
from zkdash.live.watching.ensemble_watch import Surveying
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.zk.ensemble import poller
from zkdash.zk.ensemble.poller import Poller
from zkdash.zk.ensemble.round import LIMIT_S
from zkdash.zk.wire import stream
from zkdash.zk.wire.side_requests import Carried, Question, SideRequests

ROOTS = ("/brokers",)
ALLOWED = ("*", "srvr", "ruok")


class Reticent(Ensemble):
    """Its first server tells everything, the others what none can forbid: what srvr tells."""

    def _choose_ports(self) -> None:
        super()._choose_ports()
        for server, allowed in zip(self.servers, ALLOWED, strict=True):
            server._config["4lw.commands.whitelist"] = allowed


class Survey:
    """A poller that is turned by the test, its clock, and what is known after each turn."""

    def __init__(self, address: str, aside: SideRequests) -> None:
        self.now = 0.0
        config = ClusterConfig("c", *parse_address(address))
        self.surveying = Surveying(config, aside)
        # A server that has just started has answered little, and slowly where the machine is busy.
        self.surveying._limits = Thresholds(latency_ms=60_000.0)
        self.poller = self.surveying._poller = Poller(config, aside, secured=(), clock=lambda: self.now)

    def look(self) -> Known:
        """What a round tells; none takes longer than its limit, and what the session is asked before."""
        begun = time.monotonic()
        self.now += poller.SELDOM_S
        self.poller.turn()
        assert time.monotonic() - begun < LIMIT_S + 60
        return self.surveying.ensemble()


@contextlib.contextmanager
def surveyed(address: str) -> Iterator[Survey]:
    with witness.mirroring(address, ROOTS) as (mirror, _):
        witness.wait_live(mirror)
        yield Survey(address, mirror.aside)


def by_address(known: Known) -> dict[str, Told]:
    return {one.address: one for one in known.look.servers}


def rules(known: Known) -> set[tuple[str, str]]:
    return {(one.id, one.server) for one in known.ailments}


@pytest.mark.zk
def test_servers_that_are_killed_frozen_and_quiet_are_each_shown_as_they_are(tmp_path: Path) -> None:
    with (
        Reticent(tmp_path / "ensemble", tick_time_ms=TICK_MS) as ensemble,
        surveyed(ensemble.address) as survey,
    ):
        open_one, *quiet = ensemble.servers
        sound = survey.look()
        found = by_address(sound)
        assert list(found) == [server.address for server in ensemble.servers]
        assert [one.reach for one in found.values()] == [Reach.SERVING] * 3
        assert sorted(str(one.told.mode) for one in found.values()) == ["follower", "follower", "leader"]
        assert found[open_one.address].refused == ()
        assert found[open_one.address].told.watches is not None
        for server in quiet:
            assert found[server.address].refused == ("mntr", "isro")
            assert found[server.address].told.watches is None
            assert found[server.address].told.zxid is not None
        assert sound.look.membership is not None
        assert sound.look.membership.voters == 3
        not_allowed = {("not-allowed", server.address) for server in quiet}
        assert rules(sound) == not_allowed

        killed = next(server for server in quiet if server is not ensemble.leader())
        killed.kill()
        found = by_address(survey.look())
        assert found[killed.address].reach is Reach.DOWN
        assert found[killed.address].reason == f"{killed.address} can't be reached (Connection refused)"
        assert found[killed.address].told.mode is None

        frozen = next(server for server in quiet if server is not killed)
        frozen.pause()
        try:
            alone = _until(
                survey, lambda known: by_address(known)[open_one.address].reach is Reach.NOT_SERVING
            )
        finally:
            frozen.resume()
        found = by_address(alone)
        assert found[frozen.address].reach is Reach.DOWN
        assert found[frozen.address].reason == f"{frozen.address} does not answer"
        assert rules(alone) >= {
            ("no-leader", ""),
            ("majority", ""),
            ("down", killed.address),
            ("down", frozen.address),
            ("not-serving", open_one.address),
        }
        killed.start()
        healed = _until(survey, lambda known: all(one.reach is Reach.SERVING for one in known.look.servers))
        assert rules(_until(survey, lambda known: rules(known) == not_allowed)) == not_allowed, healed


def _until(survey: Survey, condition: Callable[[Known], bool]) -> Known:
    """The first look at which the condition holds."""
    looks: list[Known] = []

    def holds() -> bool:
        looks.append(survey.look())
        return condition(looks[-1])

    wait_for(holds, 60.0, lambda: looks[-1])
    return looks[-1]


@pytest.mark.zk
def test_a_server_that_allows_nothing_is_up_and_not_down(zookeeper: Server, chroot: Chroot) -> None:
    def refuses(connection: Any) -> None:
        connection.recv(4)
        connection.sendall(b"srvr is not executed because it is not in the whitelist.\n")

    with fake.serving(refuses) as port, witness.mirroring(chroot.address, ROOTS) as (mirror, _):
        witness.wait_live(mirror)
        survey = Survey(f"127.0.0.1:{port}{chroot.path}", mirror.aside)
        known = survey.look()
    (server,) = known.look.servers
    assert server.reach is Reach.NOT_ALLOWED
    assert rules(known) == {("not-allowed", f"127.0.0.1:{port}")}


class Dynamic(Ensemble):
    """Whose servers tell each other, and /zookeeper/config, where clients reach them."""

    def _choose_ports(self) -> None:
        super()._choose_ports()
        clients = {f"server.{one}": server.address for one, server in enumerate(self.servers, 1)}
        for server in self.servers:
            for name, address in clients.items():
                server._config[name] += f":participant;{address}"


@pytest.mark.zk
def test_who_is_named_by_zookeepers_own_configuration_alone_is_asked_too(tmp_path: Path) -> None:
    with Dynamic(tmp_path / "ensemble", tick_time_ms=TICK_MS) as ensemble:
        first, *others = ensemble.servers
        with surveyed(first.address) as survey:
            known = survey.look()
    assert [(one.address, one.is_configured, one.myid) for one in known.look.servers] == [
        (first.address, True, 1),
        *((server.address, False, number) for number, server in enumerate(others, 2)),
    ]
    assert [one.reach for one in known.look.servers] == [Reach.SERVING] * 3
    assert rules(known) == set()


class _Babbling:
    """A session whose answers are none."""

    carried = Carried()

    def ask(self, questions: Sequence[Question], limit_s: float = 3.0) -> list[stream.Reply]:
        return [stream.Reply(1, None, 1, 0, b"\xff") for _ in questions]


@pytest.mark.zk
def test_a_configuration_that_cannot_be_understood_leaves_the_servers_that_are_configured(
    chroot: Chroot,
) -> None:
    known = Survey(chroot.address, _Babbling()).look()  # type: ignore[arg-type]
    assert [one.reach for one in known.look.servers] == [Reach.SERVING]
    assert known.look.membership is None


@pytest.mark.zk
def test_without_a_session_the_servers_are_asked_all_the_same(chroot: Chroot) -> None:
    survey = Survey(chroot.address, SideRequests(lambda _entry: None))
    known = survey.look()
    assert [(one.reach, one.told.mode) for one in known.look.servers] == [(Reach.SERVING, "standalone")]
    assert known.look.membership is None


@pytest.mark.zk
def test_the_servers_are_asked_more_often_while_somebody_looks(chroot: Chroot) -> None:
    survey = Survey(chroot.address, SideRequests(lambda _entry: None))
    asked = [survey.look().look.at]

    def turned(seconds: float) -> bool:
        survey.now += seconds
        survey.poller.turn()
        asked.append(survey.poller.look.at)
        return asked[-1] != asked[-2]

    assert not turned(poller.OFTEN_S)
    survey.surveying.want()
    assert turned(0.0)
    assert not turned(poller.OFTEN_S - 0.1)
    assert turned(0.1)
    assert turned(poller.OFTEN_S)
    assert not turned(poller.OFTEN_S + 0.1), "nobody has looked for half a minute"
    assert turned(poller.SELDOM_S)


@pytest.mark.zk
def test_quotas_that_bind_the_chroot_are_told_and_no_others(zookeeper: Server, chroot: Chroot) -> None:
    root = KazooClient(hosts=zookeeper.address, timeout=10.0)
    root.start(timeout=60.0)
    limits = {
        chroot.path: (b"count=100,bytes=-1", b"count=7,bytes=120"),
        f"{chroot.path}/consumers/deep": (b"count=-1,bytes=-1=;byteHardLimit=9;countHardLimit=-1", b""),
        f"{chroot.path}x": (b"count=1,bytes=1", b"count=1,bytes=1"),
    }
    chroot.client.create("/consumers", b"xyz")
    try:
        for path, (limit, stats) in limits.items():
            root.create(f"/zookeeper/quota{path}/zookeeper_limits", limit, makepath=True)
            root.create(f"/zookeeper/quota{path}/zookeeper_stats", stats)
        with surveyed(chroot.address) as survey:
            known = survey.look()
    finally:
        for path in (chroot.path, f"{chroot.path}x"):
            root.delete(f"/zookeeper/quota{path}", recursive=True)
        root.stop()
        root.close()
    assert known.look.quotas == (
        Quota(chroot.path, znodes=100, used_znodes=2, used_bytes=3),
        Quota(f"{chroot.path}/consumers/deep", hard_bytes=9, used_znodes=0, used_bytes=0),
    )


@pytest.mark.zk
def test_what_zkdash_costs_is_counted_between_two_rounds(chroot: Chroot) -> None:
    chroot.client.create("/brokers")
    with surveyed(chroot.address) as survey:
        assert survey.look().look.footprint.requests is None
        before = survey.poller._aside.carried
        for number in range(10):
            chroot.client.create(f"/brokers/{number}")
        wait_for(lambda: survey.poller._aside.carried.events >= before.events + 10)
        found = survey.look().look.footprint
    assert found.over_s == poller.SELDOM_S
    assert found.events == 10 / poller.SELDOM_S
    assert found.requests is not None
    assert found.requests >= 1 / poller.SELDOM_S
    assert found.received is not None
    assert found.received * poller.SELDOM_S > 10 * len("/brokers/1")
