"""What the search goes to beside the things of a cluster: pages, actions, other clusters, znodes' paths."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from zkdash import live
from zkdash.access.roles import Right, Role
from zkdash.cluster.plans import registry
from zkdash.cluster.tables import path_completions, search
from zkdash.cluster.tables.search import Hit, Hits
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import links
from zkdash.web.frame.page import Page

PAGE, ACTION, CLUSTER, ZNODE = "page", "action", "cluster", "znode"
# Pages that are none of a cluster's live ones, by their names: below the cluster, or "/" in front.
_OTHERS: Final = {"Embeds": "embeds/", "API tokens": "/tokens/", "Password": "/password/"}
_NEW_ACTION: Final = {"New action": "actions/new/"}
# The longest path that is completed.
_LONGEST = 200


def pages(declared: Sequence[Page], key: PageKey) -> Mapping[str, str]:
    """The addresses of the pages that need no name of a thing, by what they are called."""
    cluster = str(key.cluster)
    routes = {page.label or page.name.capitalize(): page.route for page in declared if "<" not in page.route}
    # The root of the tree is an address without a name.
    routes |= {page.label: page.route.partition("<")[0] for page in declared if page.label}
    others = _OTHERS | (_NEW_ACTION if _may_act(key) else {})
    return {
        name: links.own(route) if route.startswith("/") else links.cluster(cluster, route)
        for name, route in (routes | others).items()
    }


def find(
    addresses: Mapping[str, str], snapshot: Snapshot, key: PageKey, text: str, most: int
) -> dict[str, Hits]:
    """By kind what matches a text; of no text at all, every page."""
    return {
        PAGE: search.matches(text, addresses, lambda name: _hit(PAGE, name, "", text), most),
        ACTION: _actions(key, text, most),
        CLUSTER: _clusters(key, text, most),
        ZNODE: _znodes(snapshot, text, most),
    }


def address(hit: Hit, cluster: str, addresses: Mapping[str, str]) -> str:
    """Where a hit leads; `addresses` are those of the pages."""
    if hit.kind == PAGE:
        return addresses[hit.name]
    return _ADDRESSES[hit.kind](cluster, hit.name)


_TAGS: Final = {kind.title: kind.tag for kind in registry.KINDS}
_ADDRESSES: Final[Mapping[str, Callable[[str, str], str]]] = {
    search.TOPIC: links.topic,
    search.GROUP: links.group,
    search.BROKER: lambda cluster, name: links.broker(cluster, int(name)),
    search.CHECK: links.check,
    search.OPTION: links.configs,
    ACTION: lambda cluster, title: links.form(cluster, _TAGS[title]),
    CLUSTER: lambda _, name: links.cluster(name),
    ZNODE: links.znode,
}


def _may_act(key: PageKey) -> bool:
    return Right.ACT in Role(key.rights).rights


def _actions(key: PageKey, text: str, most: int) -> Hits:
    if not text or not _may_act(key):
        return Hits()
    return search.matches(text, _TAGS, lambda title: _hit(ACTION, title, _TAGS[title], text), most)


def _clusters(key: PageKey, text: str, most: int) -> Hits:
    """The other clusters that the visitor may see: the gate names them in the key."""
    others = [name for name in key.args if text and name != key.cluster]
    return search.matches(text, others, lambda name: _hit(CLUSTER, name, "", text), most)


def _znodes(snapshot: Snapshot, text: str, most: int) -> Hits:
    znodes = live.znodes_of(snapshot.cluster)
    if not text.startswith("/") or len(text) > _LONGEST or znodes is None:
        return Hits()
    paths = path_completions.completions(snapshot.state, text)
    first = heapq.nsmallest(most, paths if text in paths else [text, *paths])
    there = tuple(_hit(ZNODE, path, "", text) for path in first if znodes.held(path) is not None)
    return Hits(there, max(len(paths), len(there)) if there else 0)


def _hit(kind: str, name: str, about: str, text: str) -> Hit:
    return Hit(kind, name, about, exact=name.casefold() == text.casefold())
