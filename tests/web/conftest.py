"""Every test of pages starts with no cluster on the board."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from zkdash import live


@pytest.fixture(autouse=True)
def _empty_board() -> Iterator[None]:
    live.clear()
    yield
    live.clear()
