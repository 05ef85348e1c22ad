"""Everything that one process polls of zkdash's own database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from zkdash.live import alarms, database_probe, runs
from zkdash.live import queue as action_queue
from zkdash.live.alarms import KeptFindings
from zkdash.live.database_probe import DatabaseProbe
from zkdash.live.queue import ActionQueue
from zkdash.live.runs import PipelineRuns


class Pollers(NamedTuple):
    """The pollers of one process; a poller without a reader stays at its empty value."""

    queue: ActionQueue
    runs: PipelineRuns
    alarms: KeptFindings
    database: DatabaseProbe


def of(
    clusters: Sequence[str] = (),
    *,
    actions: action_queue.Reader | None = None,
    recent: runs.Reader | None = None,
    keeper: alarms.Keeper | None = None,
    prober: database_probe.Prober | None = None,
) -> Pollers:
    return Pollers(
        ActionQueue(actions, clusters),
        PipelineRuns(recent),
        KeptFindings(keeper, clusters),
        DatabaseProbe(prober),
    )


NONE = of()
