"""Two hundred sockets on a real `serve` over a real, restless ZooKeeper, some of which hardly read."""

from __future__ import annotations

import pytest

from bench import fan_out


@pytest.mark.zk
def test_pages_built_from_frames_equal_fresh_ones_and_slow_sockets_cost_only_themselves() -> None:
    found = fan_out.seen(fan_out.restless(sockets=200, slow=5, rate=1_000, seconds=10))
    told = found.visitors
    assert found.written["count"] == 10_000
    assert told["different"] == 0, told["examples"]
    assert told["lost"] == 0, told["examples"]
    assert told["behind"] == 0
    # Whoever reads is told as often as anybody on the same page.
    assert told["least_served"] > 0.9
