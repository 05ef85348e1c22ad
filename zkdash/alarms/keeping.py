"""Keeps in the database which findings stand, so that restarts and several processes agree.

Every process that watches a cluster calls `turn` about once a second. What it sees is written by whoever
comes first: constraints and conditional updates let the others find it written.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django import db
from django.db import IntegrityError, transaction
from django.db.models import Max, Prefetch

from zkdash.actions import documents
from zkdash.actions.reading.entries import UnavailableError
from zkdash.alarms import notify, open_alarms
from zkdash.alarms.models import Acknowledgement, Occurrence
from zkdash.alarms.open_alarms import Alarms, OpenAlarm, Seen
from zkdash.cluster.checks import BY_ID, Finding, Observations
from zkdash.cluster.model.severity import Severity
from zkdash.configuration.checks import ChecksByCluster

# Of each check, so many occurrences are remembered.
KEPT = 200
# A check that cannot be made is over after so long: just after a start it may only not be known yet.
_SILENT_S = 60.0
_CLEARED = "The finding cleared."


class Keeper:
    """What one process writes and reads of the findings of its clusters, by their rules."""

    def __init__(self, rules: ChecksByCluster) -> None:
        self._rules = rules
        self._silent: dict[tuple[str, str], datetime.datetime] = {}

    def turn(self, seen: Mapping[str, Seen], now: datetime.datetime) -> Mapping[str, Alarms]:
        """Write down what came and went, and say what stands. Raises UnavailableError."""
        with available():
            stand = _standing(tuple(seen))
            written = [self._write(cluster, look, stand[cluster], now) for cluster, look in seen.items()]
            if any(written):
                stand = _standing(tuple(seen))
            alarms = {name: _alarms(look.observations, stand[name]) for name, look in seen.items()}
            for name, look in seen.items():
                if look.current:
                    acknowledged, rules = alarms[name].acknowledged, self._rules.of(name)
                    notify.turn(name, look.observations.findings, acknowledged, rules, now)
        return alarms

    def _write(
        self, cluster: str, look: Seen, stand: Mapping[str, OpenAlarm], now: datetime.datetime
    ) -> bool:
        """Whether anything was written, by this process or just now by another."""
        if not look.current:
            return False
        looked, changed = look.observations.looked, False
        for finding in look.observations.findings:
            if finding.check not in stand:
                _open(cluster, finding, now)
                changed = True
        for check, alarm in stand.items():
            if self._is_over(cluster, check, look.observations, now):
                _clear(cluster, alarm, now)
                changed = True
            elif check in looked and looked[check].finding is not None:
                for acknowledgement in alarm.acknowledgements:
                    why = open_alarms.why_over(
                        acknowledgement, check, looked[check], int(now.timestamp() * 1000)
                    )
                    changed |= bool(why) and end(acknowledgement.id, why, now)
        return changed

    def _is_over(self, cluster: str, check: str, observations: Observations, now: datetime.datetime) -> bool:
        """What fails, but not for long enough yet in this process, is not."""
        looked = observations.looked.get(check)
        if check in BY_ID and looked is not None and looked.causes is not None:
            self._silent.pop((cluster, check), None)
            return not looked.causes
        since = self._silent.setdefault((cluster, check), now)
        if (now - since).total_seconds() < _SILENT_S:
            return False
        del self._silent[cluster, check]
        return True


def end(number: int, why: str, now: datetime.datetime) -> bool:
    """End an acknowledgement; False where it has ended already."""
    return bool(Acknowledgement.objects.filter(pk=number, ended_at=None).update(ended_at=now, ended_why=why))


@contextmanager
def available() -> Iterator[None]:
    """For threads that live long: no connection that has become unusable. Raises UnavailableError."""
    db.close_old_connections()
    try:
        yield
    except db.Error as error:
        raise UnavailableError(
            f"Acknowledgements cannot be read: zkdash’s database fails ({type(error).__name__})."
        ) from error
    finally:
        db.close_old_connections()


def _standing(clusters: tuple[str, ...]) -> Mapping[str, dict[str, OpenAlarm]]:
    """What stands, by cluster and check, in two queries."""
    alarms: dict[str, dict[str, OpenAlarm]] = {cluster: {} for cluster in clusters}
    acknowledged = Prefetch("acknowledgements", Acknowledgement.objects.filter(ended_at=None).order_by("id"))
    rows = Occurrence.objects.filter(cluster__in=clusters, cleared_at=None)
    for row in rows.prefetch_related(acknowledged):
        alarms[row.cluster][row.check_id] = OpenAlarm(
            row.check_id,
            row.number,
            _ms(row.first_seen),
            tuple(map(_acknowledgement, row.acknowledgements.all())),
        )
    return alarms


def _alarms(observations: Observations, stand: Mapping[str, OpenAlarm]) -> Alarms:
    looked = observations.looked
    covered = frozenset(
        check
        for check, alarm in stand.items()
        if alarm.acknowledgements
        and check in looked
        and looked[check].finding is not None
        and open_alarms.is_covered(looked[check], alarm.acknowledgements)
    )
    return Alarms(stand, covered, read=True)


def _open(cluster: str, finding: Finding, now: datetime.datetime) -> None:
    """Write that a check fails, unless another process just did."""
    same = Occurrence.objects.filter(cluster=cluster, check_id=finding.check)
    last: int = same.aggregate(last=Max("number"))["last"] or 0
    try:
        with transaction.atomic():
            Occurrence.objects.create(
                cluster=cluster,
                check_id=finding.check,
                number=last + 1,
                first_seen=datetime.datetime.fromtimestamp(finding.since, datetime.UTC),
                opened_at=now,
                severity=finding.severity.value,
                sentence=documents.text(finding.sentence),
            )
    except IntegrityError:
        return
    same.filter(number__lte=last + 1 - KEPT).delete()


def _clear(cluster: str, alarm: OpenAlarm, now: datetime.datetime) -> None:
    """Write that a check passes again, unless another process just did."""
    same = Occurrence.objects.filter(cluster=cluster, check_id=alarm.check, number=alarm.number)
    with transaction.atomic():
        if same.filter(cleared_at=None).update(cleared_at=now):
            Acknowledgement.objects.filter(occurrence__in=same, ended_at=None).update(
                ended_at=now, ended_why=_CLEARED
            )


def _acknowledgement(row: Acknowledgement) -> open_alarms.Acknowledgement:
    return open_alarms.Acknowledgement(
        id=row.pk,
        by=row.by,
        at=_ms(row.at),
        reason=row.reason,
        covers=documents.detail(bytes(row.covers)),
        severity=Severity(row.severity),
        whole=row.whole,
        until=None if row.until is None else _ms(row.until),
    )


def _ms(moment: datetime.datetime) -> int:
    return int(moment.timestamp() * 1000)
