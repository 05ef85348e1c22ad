"""A ZooKeeper that is secured in every way at once: TLS, certificates, SASL; digest it knows anyway."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.zk import secured


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[secured.Locked]:
    """The run's secured ZooKeeper, for tests that write below a chroot of their own."""
    with secured.locked(tmp_path_factory.mktemp("locked")) as server:
        yield server
