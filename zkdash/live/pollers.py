"""Everything that one process polls of zkdash's own database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from zkdash.live import alarms, runs
from zkdash.live import queue as action_queue
from zkdash.live.alarms import KeptFindings
from zkdash.live.queue import ActionQueue
from zkdash.live.runs import PipelineRuns


class Pollers(NamedTuple):
    """What has nobody who reads it stays unknown."""

    queue: ActionQueue
    runs: PipelineRuns
    alarms: KeptFindings


def of(
    clusters: Sequence[str] = (),
    *,
    actions: action_queue.Reader | None = None,
    recent: runs.Reader | None = None,
    keeper: alarms.Keeper | None = None,
) -> Pollers:
    return Pollers(ActionQueue(actions, clusters), PipelineRuns(recent), KeptFindings(keeper, clusters))


NONE = of()
