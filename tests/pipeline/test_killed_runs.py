"""Runs that are killed while they write leave whole tables, and the next run makes them those of one run."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

import pytest

from tests.faults.rounds import rounds
from tests.pipeline import killed
from tests.pipeline.test_any_order import same
from tests.pipeline.transforms.living import Lived
from tests.waiting import wait_for
from zkdash.history.places.location import Location
from zkdash.history.store import derived, schemas
from zkdash.history.store.delta import Table
from zkdash.pipeline import jobs

pytestmark = [pytest.mark.spark, pytest.mark.zk]

LIMIT_S: Final = 600.0
# What the parts of a run write, one after the other: the derivation, and the load before it.
WRITTEN: Final[tuple[Collection[str], ...]] = (schemas.TABLES, derived.TABLES)


@pytest.mark.parametrize("seed", rounds("runs", ci=1, full=40))
def test_a_killed_run_is_made_good_by_the_next_one(
    bring: Callable[[Path, Location], jobs.Outcome], lived: Lived, whole: Path, tmp_path: Path, seed: int
) -> None:
    """Killed while it derives, or (every second seed) while it loads."""
    root, tables = tmp_path / "history", WRITTEN[seed % 2]
    enough = random.Random(seed).randrange(files(whole, tables))  # noqa: S311 - a replay, no secret
    kill_a_run(lived.stages[-1], root, tmp_path / "run", lambda: files(root, tables) > enough)
    for name in (*schemas.TABLES, *derived.TABLES):
        table = Table(root / "shop" / name)
        assert not table.has_log or all(path.is_file() for path in table.paths()), name
    bring(lived.stages[-1], root)
    same(root, whole)


def kill_a_run(files_of: Path, root: Path, below: Path, is_enough: Callable[[], bool]) -> None:
    """Begins a run, and kills its process as soon as it has written enough."""
    below.mkdir()
    log = below / "log"
    with killed.running(
        "tests.pipeline.bringing", files_of, root, scratch=below / "scratch", log=log
    ) as process:
        wait_for(lambda: process.poll() is not None or is_enough(), LIMIT_S, log.read_text)
        assert process.poll() is None, log.read_text()


def files(root: Path, tables: Collection[str]) -> int:
    """How many files there are of some tables, listed in their logs or not; they come and go meanwhile."""
    return sum(len(names) for table in tables for _, _, names in os.walk(root / "shop" / table))
