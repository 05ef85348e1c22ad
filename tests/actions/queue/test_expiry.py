"""Dry runs that nobody submits end by themselves after thirty days, and nothing else does."""

from __future__ import annotations

from datetime import timedelta

from tests.actions.small import now as as_it_is
from tests.actions.small import proposed, queued
from tests.databases import Database
from tests.zk.reader.test_one_shot import config_of
from zkdash.actions import audit
from zkdash.actions.execution.reaping import Reaper
from zkdash.actions.execution.worker import utc_now
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import expiry
from zkdash.actions.states import State

DAYS = timedelta(days=30)
MINUTE = timedelta(minutes=1)


def test_what_nobody_submitted_in_thirty_days_is_ended_and_told_in_the_audit(database: Database) -> None:
    old, waiting, elsewhere = proposed(), queued(), proposed("d")
    before = max(Action.objects.values_list("revision", flat=True))
    assert expiry.end("c", old.requested_at + DAYS) == 0
    assert expiry.end("c", utc_now() + DAYS) == 1
    ended = as_it_is(old)
    assert (ended.state, ended.result) == (
        State.STOPPED,
        "Nobody submitted it within 30 days; nothing was written.",
    )
    assert ended.ended_at is not None
    assert ended.revision > before
    assert as_it_is(waiting).state == State.QUEUED
    assert as_it_is(elsewhere).state == State.PLANNED
    line = Audit.objects.get(event="expired")
    assert (line.action, line.cluster, line.who) == (old.id, "c", "zkdash")
    assert audit.verify().broken is None
    assert expiry.end("c", utc_now() + DAYS) == 0


def test_workers_see_to_it_every_hour_without_markers_too(db: None) -> None:
    config = config_of("127.0.0.1:1", markers=False)
    reaper, begun = Reaper(config), utc_now()
    old = proposed(config.name)
    late = begun + DAYS
    reaper.turn(late)
    assert as_it_is(old).state == State.PLANNED
    reaper.turn(late + MINUTE)
    assert as_it_is(old).state == State.STOPPED
    another = proposed(config.name)
    reaper.turn(late + 59 * MINUTE)
    assert as_it_is(another).state == State.PLANNED
    reaper.turn(late + 61 * MINUTE)
    assert as_it_is(another).state == State.STOPPED
