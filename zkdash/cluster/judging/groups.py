"""What the checks have against a group of ZooKeeper consumers."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.cluster.blame import Cause
from zkdash.cluster.groups import Group

CHECKS = ("D47",)


def judge(group: Group | None) -> Mapping[str, Cause]:
    """The checks that a group fails; none where there is no such group."""
    if group is None:
        return {}
    return {"D47": Cause(group.bad_offsets)} if group.bad_offsets else {}
