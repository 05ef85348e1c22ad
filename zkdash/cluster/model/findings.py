"""What a check found of a cluster, and since when."""

from __future__ import annotations

import msgspec

from zkdash.cluster.model.severity import Severity


class Finding(msgspec.Struct, frozen=True):
    """A check that does not pass: `check` is its id ("D1"), `sentence` what it says.

    `count` is how many things cause it, `page` and `query` name the table that lists them
    (page "topics", query "q=is%3Aoffline"), `since` is the epoch second when it was first seen.
    """

    check: str
    severity: Severity
    sentence: str
    count: int
    page: str
    query: str
    since: float
    remedy: str
