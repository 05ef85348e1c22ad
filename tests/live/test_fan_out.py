"""Many sockets on a real `serve` over a real, restless ZooKeeper, some of which hardly read."""

from __future__ import annotations

import pytest

from bench import fan_out
from tests import full

SOCKETS, SLOW, RATE, SECONDS = full.pick((80, 3, 500, 5), (200, 5, 1_000, 10))
# In a short time the few frames of one more or less weigh more.
LEAST_SERVED = full.pick(0.75, 0.9)


@pytest.mark.zk
def test_pages_built_from_frames_equal_fresh_ones_and_slow_sockets_cost_only_themselves() -> None:
    found = fan_out.seen(fan_out.restless(sockets=SOCKETS, slow=SLOW, rate=RATE, seconds=SECONDS))
    told = found.visitors
    assert found.written["count"] == RATE * SECONDS
    assert told["different"] == 0, told["examples"]
    assert told["lost"] == 0, told["examples"]
    assert told["behind"] == 0
    # Whoever reads is told as often as anybody on the same page.
    assert told["least_served"] > LEAST_SERVED
