"""What pages cost once the cluster is in memory: each of them whole, rendered again and again.

The side tells of its tree once it is read, and then of one round of pages each time that it is told to go on.
"""

from __future__ import annotations

import sys
import time

from django.test import Client

from bench import lagging, side, tree
from bench.watched import Watched
from zkdash.cluster.model.state import ClusterState

_LOAD_LIMIT_S = 120
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


def main(address: str) -> None:
    watched = Watched(address)
    watched.start()
    snapshot = watched.wait(limit_s=_LOAD_LIMIT_S)
    state = snapshot.state
    client = Client(SERVER_NAME="127.0.0.1")
    root = f"/c/{watched.name}/"
    side.say(
        topics=len(state.topics),
        groups=len(state.groups),
        rows={page: _rows(state, page) for page in _PAGES},
        lags=lagging.measured(snapshot),
    )
    while side.hear() is not None:
        side.say(pages={page: _costs_ms(client, root, page) for page in _PAGES})
    watched.stop()


def _costs_ms(client: Client, root: str, page: str) -> dict[str, float]:
    path, queries = _PAGES[page]
    return {name: _cost_ms(client, root + path + query) for name, query in {"default": "", **queries}.items()}


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
    main(sys.argv[1])
