"""Every test of pages starts with no cluster on the board, and may read what it publishes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from zkdash import live
from zkdash.live import snapshot_registry


@pytest.fixture(autouse=True)
def _empty_board() -> Iterator[None]:
    live.clear()
    yield
    live.clear()


@pytest.fixture(autouse=True)
def _nothing_grows_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test publishes is of now, however slow the machine is; `as_of=1.0` is old all the same."""
    monkeypatch.setattr(snapshot_registry, "STALE_AFTER_S", 24 * 3600.0)


@pytest.fixture(autouse=True)
def _anonymous_read(settings: Settings) -> None:
    """Pages are open to everybody; tests of rights close them."""
    settings.ZKDASH_ANONYMOUS_READ = True
