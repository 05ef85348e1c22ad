"""Several workers with wrong clocks on one database: one action a cluster at a time, each step told once."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from tests.actions.small import queued
from tests.actions.working import PROCESS, Worker
from tests.databases import Database, in_threads
from zkdash.actions import audit
from zkdash.actions.models import Action, Audit, Step
from zkdash.actions.states import State, StepState

ROOT = Path(__file__).resolve().parents[2]
CLUSTERS = ("c", "d")
ACTIONS = 3
STEPS = 3
# One clock is right, one an hour slow (its leases have run out for the others), one an hour fast (no lease
# of others holds for it). Leases of 5 ms run out at work for everybody.
SKEWS_S = {"right": 0, "slow": -3600, "fast": 3600}
LEASES_S = {"long": 30, "short": 0.005}


@pytest.mark.parametrize("lease_s", LEASES_S.values(), ids=LEASES_S)
def test_three_threads_with_wrong_clocks(database: Database, tmp_path: Path, lease_s: float) -> None:
    late = _fill(tmp_path)
    in_threads(
        *(
            partial(Worker(owner, tmp_path, skew_s, lease_s).run, CLUSTERS)
            for owner, skew_s in SKEWS_S.items()
        )
    )
    _come_back(late, tmp_path)
    _check(tmp_path)


def test_three_processes_with_wrong_clocks(database: Database, tmp_path: Path) -> None:
    late = _fill(tmp_path)
    environment = {**os.environ, **database.environment, "DJANGO_SETTINGS_MODULE": "zkdash.settings"}
    workers = [
        subprocess.Popen(
            [*PROCESS, owner, tmp_path, str(skew_s), "0.05", *CLUSTERS],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for owner, skew_s in SKEWS_S.items()
    ]
    told = [(*worker.communicate(timeout=120), worker.returncode) for worker in workers]
    assert {(complained, code) for _, complained, code in told} == {("", 0)}
    _come_back(late, tmp_path)
    _check(tmp_path)


def _fill(directory: Path) -> Action:
    """Queue everything, and let a worker with a slow clock begin with one and be held up before its write."""
    for number in range(ACTIONS):
        for cluster in CLUSTERS:
            queued(cluster, steps=STEPS, reason=f"number {number}")
    return Worker("late", directory, SKEWS_S["slow"], LEASES_S["long"]).begin(CLUSTERS)


def _come_back(late: Action, directory: Path) -> None:
    """Who was held up goes on where it was: its write is one too many, and nobody listens to it."""
    before = list(Action.objects.order_by("id").values_list())
    worker = Worker(late.owner, directory, SKEWS_S["slow"], LEASES_S["long"])
    worker.write(f"{late.id}-{late.step}")
    assert not worker.carry_out(late)
    assert list(Action.objects.order_by("id").values_list()) == before
    assert Audit.objects.filter(event="taken-over", action=late.id).exists()


def _check(directory: Path) -> None:
    """Everything is done and was written once, and at no time were two actions of a cluster begun."""
    assert set(Action.objects.values_list("state", flat=True)) == {State.DONE}
    assert set(Step.objects.values_list("state", flat=True)) == {StepState.VERIFIED}
    assert len(list(directory.iterdir())) == len(CLUSTERS) * ACTIONS * STEPS
    assert audit.verify().broken is None

    at_work: dict[str, int | None] = dict.fromkeys(CLUSTERS)
    order: list[int | None] = []
    told: Counter[tuple[str, int | None, int | None]] = Counter()
    for row in Audit.objects.order_by("id"):
        if row.event == "claimed":
            assert at_work[row.cluster] is None, f"two actions of {row.cluster} at a time"
            at_work[row.cluster] = row.action
            order.append(row.action)
        elif row.event in {"taken-over", "intended", "applied", "verified", "ended"}:
            assert at_work[row.cluster] == row.action
        if row.event == "ended":
            at_work[row.cluster] = None
        told[row.event, row.action, row.step] += 1
    assert {count for (event, *_), count in told.items() if event in {"applied", "verified", "ended"}} == {1}
    for cluster in CLUSTERS:
        of_cluster = list(Action.objects.filter(cluster=cluster).order_by("id").values_list("id", flat=True))
        assert [action for action in order if action in set(of_cluster)] == of_cluster
