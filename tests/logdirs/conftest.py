"""What the tests of log directories share: directories that a real broker of each era wrote."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import full
from tests.lab.mains import Mains
from tests.logdirs import written
from tests.logdirs.written import Written
from zkdash.demo.zookeeper.server import Server

COPIES = full.pick(12, 40)  # of a log, each damaged in its own way, that a broker is started on at once


@pytest.fixture(scope="session")
def mains(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mains]:
    """Kafka's own tools."""
    tools = Mains(tmp_path_factory.mktemp("tools"))
    yield tools
    tools.stop()


@pytest.fixture(scope="session", params=list(written.CODECS))
def left(
    request: pytest.FixtureRequest,
    zookeeper: Server,
    tmp_path_factory: pytest.TempPathFactory,
    mains: Mains,
) -> Written:
    """What a broker of each era in turn left."""
    folder = tmp_path_factory.mktemp("written")
    return written.write(request.param, zookeeper.address, folder, mains, damaged=COPIES)
