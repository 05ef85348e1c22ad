"""What tests of the mirror share."""

from __future__ import annotations

import pytest

from zkdash.zk.mirror import mirror, offsets


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mirrors look at the time, and read offsets, five times as often as the product's do."""
    monkeypatch.setattr(mirror, "_TICK_S", 0.2)
    monkeypatch.setattr(offsets, "DELAY_S", 0.2)
