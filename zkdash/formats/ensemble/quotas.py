"""Quotas as ZooKeeper keeps them in znodes: org.apache.zookeeper.StatsTrack below /zookeeper/quota.

"count=5,bytes=-1", since 3.7 with "=;byteHardLimit=-1;countHardLimit=7" for a hard limit; -1 is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from zkdash.formats.ensemble.values import Quota

LIMITS: Final = "zookeeper_limits"
STATS: Final = "zookeeper_stats"
_PAIR: Final = re.compile(r"(count|bytes|countHardLimit|byteHardLimit)=(-?[0-9]{1,19})")


def read(path: str, limits: bytes, stats: bytes) -> Quota:
    """The quota of a path from the data of both znodes; what cannot be understood is None."""
    limit, used = _numbers(limits), _numbers(stats)
    return Quota(
        path,
        limit.get("count"),
        limit.get("bytes"),
        limit.get("countHardLimit"),
        limit.get("byteHardLimit"),
        used.get("count"),
        used.get("bytes"),
    )


def _numbers(data: bytes) -> Mapping[str, int]:
    text = data[:4096].decode(errors="replace")
    return {key: int(number) for key, number in _PAIR.findall(text) if int(number) >= 0}
