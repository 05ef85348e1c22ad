"""Every page of recorded clusters, served by one process from one real ZooKeeper."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from tests import recorded
from tests.serving import Served, starter
from zkdash.demo.zookeeper.server import Server
from zkdash.kafka import paths
from zkdash.web import pages
from zkdash.web.frame import links
from zkdash.web.frame.page import Page
from zkdash.web.history import table
from zkdash.znode import Znode

LOAD_LIMIT_S = 60.0
# Whose children a detail page's address names, by what it begins with.
_NAMES = {"topics": "/brokers/topics", "brokers": "/brokers/ids", "groups": "/consumers"}


@contextlib.contextmanager
def serving(below: Path, trees: Iterable[str], **settings: str | Path) -> Iterator[Served]:
    """The trees as clusters of one serving process, each called by its name; all of them are loaded.

    `settings` are more of its environment.
    """
    trees = tuple(trees)
    recorded.write_snapshot(below / "zookeeper", trees)
    with Server(below / "zookeeper") as zookeeper, starter(below) as start:
        config = below / "zkdash.toml"
        config.write_text("".join(_cluster(name, zookeeper.address) for name in trees))
        server = start(ZKDASH_CONFIG=config, **settings)
        server.wait_until_all_loaded(limit_s=LOAD_LIMIT_S)
        yield server


def _cluster(name: str, address: str) -> str:
    return f'[clusters."{name}"]\nzookeeper = "{address}/{name}"\n'


def addresses(tree: str, most: int | None = None) -> Iterator[str]:
    """Every page of a cluster, by the znodes that it has; of each kind of detail pages `most`.

    Of a table of what is recorded one: nothing is, and one is like another.
    """
    znodes = recorded.load(tree)
    for page in pages.PAGES:
        if "<" in page.route:
            some = 1 if page.name == table.PAGE.name else most
            yield from (address(tree, page, name) for name in islice(details(page, znodes), some))
        else:
            yield f"/c/{tree}/{page.route}"


def address(tree: str, page: Page, name: str) -> str:
    """A page of one thing of a cluster."""
    if page.name == "znodes":
        return links.znode(tree, name)
    before, _, rest = page.route.partition("<")
    return f"/c/{tree}/{before}{links.segment(name)}{rest.partition('>')[2]}"


def _one_of_each(tree: Mapping[str, Znode]) -> Iterator[str]:
    """A znode of each kind that the tree has, partition states and the root among them."""
    yield from sorted({paths.locate(path).kind: path for path in tree}.values(), key=len, reverse=True)
    yield "/"


def _sessions(tree: Mapping[str, Znode]) -> Iterator[str]:
    """Some sessions that own something."""
    owners = sorted({znode.ephemeral_owner for znode in tree.values()} - {0})
    yield from (links.session_text(owner) for owner in owners[:3])


# Of the tree itself, by what a page's address begins with.
_ZNODES: Final[Mapping[str, Callable[[Mapping[str, Znode]], Iterator[str]]]] = {
    "znodes": _one_of_each,
    "sessions": _sessions,
}


def details(page: Page, znodes: Mapping[str, Znode]) -> Iterator[str]:
    """What the address of a page of one thing may name, by the znodes of a cluster."""
    kind = page.route.partition("/")[0]
    if page.name == table.PAGE.name:
        yield from table.TABLES
    if kind in _ZNODES:
        yield from _ZNODES[kind](znodes)
    if kind not in _NAMES:  # of the database, where nothing is
        return
    for name in recorded.children(znodes).get(_NAMES[kind], []):
        if kind != "brokers" or paths.is_id(name):
            yield name
