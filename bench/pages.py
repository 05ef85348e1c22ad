"""What a page costs once the cluster is in memory: the Topics page, whole, rendered again and again."""

from __future__ import annotations

import sys
import time

from django.test import Client

from bench import side
from bench.watched import Watched

_LOAD_LIMIT_S = 120
_TIMES = 30
_QUERIES = {"default": "", "filter": "?q=topic-01", "sort": "?sort=-changed"}


def main(address: str) -> None:
    watched = Watched(address)
    watched.start()
    snapshot = watched.wait(limit_s=_LOAD_LIMIT_S)
    client = Client(SERVER_NAME="127.0.0.1")
    path = f"/c/{watched.name}/topics/"
    milliseconds = {name: _cost_ms(client, path + query) for name, query in _QUERIES.items()}
    side.say(topics=len(snapshot.state.topics), **milliseconds)
    watched.stop()


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
