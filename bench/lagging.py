"""What lag costs once brokers told it: to count it for all groups, and Groups sorted and filtered by it."""

from __future__ import annotations

import time
from collections.abc import Callable

import immutables
import msgspec

from zkdash.broker.ledger import Sampled
from zkdash.broker.samples import LogEnds, Samples
from zkdash.cluster.model.brokers.lags import Lags
from zkdash.cluster.model.state import ClusterState
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.live.watching.lag_book import PUBLISH_S, LagBook

_TIMES = 10
_END = 1_000_000


def measured(snapshot: Snapshot) -> dict[str, float]:
    """The milliseconds of CPU of each."""
    lags, turns = _counted(snapshot.state)
    from zkdash.web.groups import groups  # noqa: PLC0415 - after Django, as in a serving process

    def look(query: str) -> None:
        groups.look(known, PageKey(snapshot.cluster, "groups", (), query))

    known = msgspec.structs.replace(snapshot, lags=lags)
    return {
        "lag of all groups counted, ms": sum(turns),
        "longest turn of counting, ms": max(turns),
        "Groups, by lag, ms": _cost_ms(lambda: look("sort=-lag")),
        "Groups, lag:>1000, ms": _cost_ms(lambda: look("q=lag%3A%3E1000")),
    }


def _counted(state: ClusterState) -> tuple[Lags, list[float]]:
    """The lags of all groups that have offsets, of one round over all topics; each turn's milliseconds."""
    ends = {
        name: {partition.id: LogEnds(0, _END, 0.0) for partition in state.topics[name].partitions}
        for name in state.consumers
        if name in state.topics
    }
    samples = Samples(ends=immutables.Map(ends))
    book, sampled, now = LagBook(), Sampled(topics=frozenset(ends)), 0.0
    before, turns = None, []
    while book.lags is not before:
        before, now = book.lags, now + PUBLISH_S
        started = time.thread_time()
        book.take(sampled, state, samples, now)
        turns.append((time.thread_time() - started) * 1e3)
        sampled = Sampled()
    return book.lags, turns


def _cost_ms(look: Callable[[], None]) -> float:
    look()
    started = time.thread_time()
    for _ in range(_TIMES):
        look()
    return (time.thread_time() - started) / _TIMES * 1e3
