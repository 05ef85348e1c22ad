"""The way from a page of one cluster to the same page of another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlencode

from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Past
from zkdash.web import pages
from zkdash.web.frame import links

# What the side bar leads to.
_LISTS = frozenset(page.route.partition("<")[0] for page in pages.PAGES if page.label)


class Switch(NamedTuple):
    """One other cluster, and what it is like there."""

    cluster: str
    href: str


def entries(key: PageKey, names: Iterable[str], past: Past | None = None) -> tuple[Switch, ...]:
    """The others of the clusters that may be seen.

    A page of one thing, which they may not have, leads to the list of such things, where there is none to
    their overview; so does what is not in the registry. From the past one comes to the same time:
    transactions are a cluster's own.
    """
    if key.cluster is None:
        return ()
    page = pages.BY_NAME.get(key.page)
    path, detail, _ = page.route.partition("<") if page else ("", "", "")
    if detail and path not in _LISTS:
        path = ""
    query = "" if detail else key.query
    if past is not None:
        query = "&".join(filter(None, (query, urlencode({"at": links.at_time(past.instant.time_ms)}))))
    return tuple(Switch(name, links.cluster(name, path, query)) for name in names if name != key.cluster)
