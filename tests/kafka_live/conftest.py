"""What tests with real brokers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lab.cluster import Lab
from tests.lab.releases import RELEASES
from tests.serving import served
from zkdash.demo.zookeeper import Server

__all__ = ["lab", "release", "served"]


@pytest.fixture(scope="session")
def lab(zookeeper: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The run's brokers, started when a test asks for them."""
    lab = Lab(zookeeper.address, tmp_path_factory.mktemp("kafka"))
    yield lab
    lab.stop()


@pytest.fixture(scope="session", params=list(RELEASES))
def release(request: pytest.FixtureRequest) -> str:
    """Each release in turn; of session scope, so that pytest keeps an era's tests together."""
    return str(request.param)
