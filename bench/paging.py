"""What pages cost once clusters are in memory: each of them whole, rendered again and again.

The side tells of its trees once they are read, and then of one round of pages each time that it is told to go
on: of all pages, or of those that it is told by name. One process holds all the trees: what memory a process
gets is up to a tenth of what its pages cost, which says nothing of a larger tree beside a smaller one.
"""

from __future__ import annotations

import sys
import time

from django.test import Client

from bench import lagging, side, tree
from bench.side import Figures
from bench.watched import Watched
from zkdash.cluster.model.state import ClusterState

_LOAD_LIMIT_S = 120
# The milliseconds of CPU of each page and query.
Costs = dict[str, dict[str, float]]
_TIMES = 5  # of each page in a round
# Page: its path, and its queries beside the default one.
_PAGES = {
    "Overview": ("", {}),
    "Brokers": ("brokers/", {"filter": "?q=kafka-1", "sort": "?sort=-leaders"}),
    "Broker": ("brokers/1/", {}),
    "Topics": ("topics/", {"filter": "?q=topic-01", "sort": "?sort=-changed"}),
    "Topic": (f"topics/{tree.topic_name(1)}/", {}),
    "Groups": ("groups/", {"filter": "?q=group-01", "sort": "?sort=-rebalanced"}),
    "Group": ("groups/group-0001/", {}),
    "Problems": ("problems/", {}),
}


def main(*addresses: str) -> None:
    clusters = [Watched(address, f"cluster-{number}") for number, address in enumerate(addresses)]
    for watched in clusters:
        watched.start()
    side.say(trees=[_told(watched) for watched in clusters])
    client = Client(SERVER_NAME="127.0.0.1")
    roots = [f"/c/{watched.name}/" for watched in clusters]
    while (told := side.hear()) is not None:
        pages = told["pages"] or list(_PAGES)
        round_: list[Costs] = [{page: {} for page in pages} for _ in roots]
        for page in pages:
            path, queries = _PAGES[page]
            for query, text in {"default": "", **queries}.items():
                for root, costs in zip(roots, round_, strict=True):
                    costs[page][query] = _cost_ms(client, root + path + text)
        side.say(pages=round_)
    for watched in clusters:
        watched.stop()


def _told(watched: Watched) -> Figures:
    snapshot = watched.wait(limit_s=_LOAD_LIMIT_S)
    state = snapshot.state
    return {
        "topics": len(state.topics),
        "groups": len(state.groups),
        "rows": {page: _rows(state, page) for page in _PAGES},
        "lags": lagging.measured(snapshot),
    }


def _rows(state: ClusterState, page: str) -> int:
    """How many rows a filter or a sort of the page looks at."""
    return {"Topics": len(state.topics), "Groups": len(state.groups)}.get(page, 0)


def _cost_ms(client: Client, url: str) -> float:
    """CPU of this thread a page, after one that fills the caches of templates."""
    client.get(url)
    started = time.thread_time()
    for _ in range(_TIMES):
        page = client.get(url)
        if page.status_code != 200:
            raise RuntimeError(f"{url} answered {page.status_code}: {page.content[:500]!r}")
    return (time.thread_time() - started) / _TIMES * 1e3


if __name__ == "__main__":
    main(*sys.argv[1:])
