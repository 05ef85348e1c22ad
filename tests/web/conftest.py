"""Every test of pages starts with no cluster on the board, and may read what it publishes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from zkdash import live


@pytest.fixture(autouse=True)
def _empty_board() -> Iterator[None]:
    live.clear()
    yield
    live.clear()


@pytest.fixture(autouse=True)
def _anonymous_read(settings: Settings) -> None:
    """Pages are open to everybody; tests of rights close them."""
    settings.ZKDASH_ANONYMOUS_READ = True
