"""What a server knows is asked of the server itself, and never on the mirror's connection."""

from __future__ import annotations

import pytest

from tests.lab import zookeeper
from tests.zk import fake
from zkdash.demo.zookeeper import Server
from zkdash.zk.mirror import probe
from zkdash.zk.mirror.probe import Verdict

pytestmark = pytest.mark.zk


@pytest.mark.parametrize("zookeeper_release", zookeeper.RELEASES, indirect=True, scope="session")
def test_a_servers_version_tells_what_it_knows(zookeeper: Server, zookeeper_release: str) -> None:
    verdict = probe.ask(("127.0.0.1", zookeeper.port), "127.0.0.1", None)
    assert verdict.version is not None
    assert verdict.version.startswith(zookeeper_release)
    assert verdict.is_one_shot == (zookeeper_release != "3.9")


def test_where_the_version_is_not_told_a_multi_read_is_tried_on_a_session_of_its_own() -> None:
    with fake.serving(fake.is_unimplemented) as port:
        assert probe.ask(("127.0.0.1", port), "127.0.0.1", None) == Verdict(is_one_shot=True)


def test_a_server_that_does_not_answer_proves_nothing() -> None:
    with fake.serving(fake.closes) as port:
        assert probe.ask(("127.0.0.1", port), "127.0.0.1", None) == Verdict(is_one_shot=False)
