"""How many milliseconds units of time have: times are epoch ms, as ZooKeeper and Kafka write them."""

from __future__ import annotations

from typing import Final

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
