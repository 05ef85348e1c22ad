"""Reads the runs of the pipeline from the database, as plain values."""

from __future__ import annotations

import datetime
from typing import Any

from django import db

from zkdash.actions.reading.entries import UnavailableError
from zkdash.live.runs import Run
from zkdash.pipeline import runs


def recent(cluster: str) -> tuple[Run, ...]:
    """The runs asked for last, newest first. From a thread that may live long. Raises UnavailableError."""
    db.close_old_connections()
    try:
        return tuple(map(_plain, runs.recent(cluster)))
    except db.Error as error:
        raise UnavailableError(
            f"Runs cannot be read: zkdash’s database fails ({type(error).__name__})."
        ) from error
    finally:
        db.close_old_connections()


def _plain(run: runs.Run) -> Run:
    lag: Any = run.metrics.get("lag_ms")
    return Run(
        id=run.id,
        job=run.job,
        state=run.state,
        by=run.by,
        queued_ms=_ms(run.queued_at) or 0,
        started_ms=_ms(run.started_at),
        ended_ms=_ms(run.ended_at),
        rows=run.rows,
        problems=run.problems,
        zxid_upto=run.zxid_upto,
        progress=run.progress,
        sentence=run.sentence,
        lag_ms=lag if isinstance(lag, int) else None,
    )


def _ms(moment: datetime.datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
