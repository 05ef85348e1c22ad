"""The way from a page of one cluster to the same page of another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from zkdash.live.parts import PageKey
from zkdash.web import pages
from zkdash.web.frame import links


class Switch(NamedTuple):
    """One other cluster, and what it is like there."""

    cluster: str
    href: str


def entries(key: PageKey, names: Iterable[str]) -> tuple[Switch, ...]:
    """The others of the clusters that may be seen.

    A page of one thing, which they may not have, leads to the list of such things.
    """
    if key.cluster is None:
        return ()
    path, detail, _ = pages.BY_NAME[key.page].route.partition("<")
    query = "" if detail else key.query
    return tuple(Switch(name, links.cluster(name, path, query)) for name in names if name != key.cluster)
