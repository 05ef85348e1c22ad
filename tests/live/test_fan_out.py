"""Two hundred sockets on a real `serve` over a real, restless ZooKeeper, some of which hardly read."""

from __future__ import annotations

import pytest

from bench import fan_out

SOCKETS, SLOW = 200, 5
RATE, SECONDS = 1_000, 10


@pytest.mark.zk
def test_pages_built_from_frames_equal_fresh_ones_and_slow_sockets_cost_only_themselves() -> None:
    load = fan_out.restless(sockets=SOCKETS, slow=SLOW, rate=RATE, seconds=SECONDS)
    found = fan_out.seen(load)
    told = found.visitors
    assert found.written["count"] == RATE * SECONDS
    assert told["different"] == 0, told["examples"]
    assert told["lost"] == 0, told["examples"]
    assert told["behind"] == 0
    # Whoever reads is told as often as anybody on the same page.
    assert told["least_served"] > 0.9
