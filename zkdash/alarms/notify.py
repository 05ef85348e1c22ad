"""Tells others of findings that came and went: once they have stood for a while, and not each time they flap.

Every process that watches a cluster asks here about once a second; the row of `Notice` decides which of them
tells. What is told waits in the outbox, so that nobody here waits for an address.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from itertools import groupby

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import Q

from zkdash.alarms.models import Notice, Occurrence
from zkdash.cluster.checks import BY_ID, TITLES, Finding
from zkdash.cluster.model.severity import Severity
from zkdash.configuration.checks import OFF, Checks
from zkdash.notices import outbox, targets

RAISED, CLEARED = "check-raised", "check-cleared"
# So many times within `alert_every`, and a finding flaps: it is told though it never stands for long.
_FLAPS = 3


class Due(msgspec.Struct, frozen=True):
    """What is to be told of a check: `event`, of which occurrence, and how often it has failed of late."""

    event: str
    occurrence: Occurrence
    times: int


def turn(
    cluster: str,
    findings: Collection[Finding],
    acknowledged: Collection[str],
    rules: Checks,
    now: datetime.datetime,
) -> None:
    """Enqueue what is due of a cluster. Raises django.db.Error."""
    if rules.alert_severity == OFF or not targets.names(cluster):
        return
    noticed = {row.check_id: row for row in Notice.objects.filter(cluster=cluster)}
    standing = {finding.check: finding for finding in findings}
    for check, rows in _recent(cluster, noticed, rules, now).items():
        notice = noticed.get(check)
        news = due(rows, notice, standing.get(check), rules, now)
        if news is None or (news.event == RAISED and check in acknowledged):
            continue
        with transaction.atomic():
            if _take(cluster, check, notice, news, now):
                outbox.enqueue(_notice(news, standing.get(check)))


def due(
    rows: list[Occurrence],
    notice: Notice | None,
    finding: Finding | None,
    rules: Checks,
    now: datetime.datetime,
) -> Due | None:
    """What is to be told now, of the occurrences of one check, oldest first, of which the last decides."""
    last = rows[-1]
    since = now - datetime.timedelta(seconds=rules.alert_every)
    times = sum(row.opened_at > since for row in rows)
    flaps = times >= _FLAPS
    is_told = notice is not None and notice.stands
    steady_s = (now - (last.cleared_at or last.opened_at)).total_seconds()
    if last.cleared_at is not None and is_told and not flaps and steady_s >= rules.alert_after:
        return Due(CLEARED, last, times)
    if is_told or (last.cleared_at is not None and not flaps):
        return None
    severity = finding.severity if finding is not None else Severity(last.severity)
    was_told = notice is not None and notice.appeared_at is not None and notice.appeared_at > since
    is_new = notice is None or notice.number < last.number
    if was_told or not is_new or not rules.sends(severity) or not (flaps or steady_s >= rules.alert_after):
        return None
    return Due(RAISED, last, times)


def _recent(
    cluster: str, noticed: Mapping[str, Notice], rules: Checks, now: datetime.datetime
) -> Mapping[str, list[Occurrence]]:
    """By check the occurrences that can decide, oldest first: those that stand, that came of late, or whose
    end is yet to be told."""
    since = now - datetime.timedelta(seconds=rules.alert_every)
    open_ended = Q(cleared_at=None) | Q(opened_at__gt=since)
    for notice in noticed.values():
        if notice.stands:
            open_ended |= Q(check_id=notice.check_id, number__gte=notice.number)
    rows = Occurrence.objects.filter(open_ended, cluster=cluster).order_by("check_id", "number")
    return {check: list(history) for check, history in groupby(rows, lambda row: row.check_id)}


def _take(cluster: str, check: str, notice: Notice | None, news: Due, now: datetime.datetime) -> bool:
    """Whether it is this process that tells."""
    raised, number = news.event == RAISED, news.occurrence.number
    if notice is None:
        first = Notice(cluster=cluster, check_id=check, stands=True, number=number, appeared_at=now)
        try:
            with transaction.atomic():
                first.save()
        except IntegrityError:
            return False
        return True
    same = Notice.objects.filter(
        pk=notice.pk, stands=notice.stands, number=notice.number, appeared_at=notice.appeared_at
    )
    changed = {"appeared_at": now} if raised else {}
    return bool(same.update(stands=raised, number=number, **changed))


def _notice(news: Due, finding: Finding | None) -> outbox.Notice:
    row, raised = news.occurrence, news.event == RAISED
    check = BY_ID.get(row.check_id)
    sentence = finding.sentence if finding is not None and raised else row.sentence
    severity = finding.severity.value if finding is not None and raised else row.severity
    often = f" ({news.times} times of late)" if news.times > 1 else ""
    line = f"{sentence}{often}" if raised else f"Over: {sentence}"
    return outbox.Notice(
        event=news.event,
        cluster=row.cluster,
        about=f"check {row.check_id}",
        sentence=line,
        told={
            "id": str(row),
            "check": row.check_id,
            "occurrence": row.number,
            "severity": severity,
            "sentence": sentence,
            "passing": TITLES.get(row.check_id, ""),
            "count": finding.count if finding is not None and raised else None,
            "times": news.times,
            "first_seen": row.first_seen.isoformat(),
            "cleared_at": row.cleared_at and row.cleared_at.isoformat(),
            "remedy": check.remedy if check else "",
        },
        page=f"checks/{row.check_id}/" if check else "",
    )
