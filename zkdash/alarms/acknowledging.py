"""Taking note of a finding, for good reason and for a while, and taking that back. All of it is audited."""

from __future__ import annotations

import datetime
from collections.abc import Collection

import msgspec
from django.db import transaction

from zkdash.actions import audit, documents
from zkdash.actions.actor import Actor
from zkdash.alarms import keeping, open_alarms
from zkdash.alarms.models import Acknowledgement, Occurrence
from zkdash.cluster.checks.observations import CheckResult

_LONGEST = 500
_MOST_NAMED = 20


class Shown(msgspec.Struct, frozen=True):
    """The occurrence that somebody saw, as the check sees it now."""

    cluster: str
    check: str
    number: int
    looked: CheckResult


class AcknowledgingError(Exception):
    """It cannot be; the message is one sentence that says why and what to do."""


def acknowledge(
    shown: Shown,
    who: Actor,
    reason: str,
    *,
    now: datetime.datetime,
    until: datetime.datetime | None = None,
    causes: Collection[str] = (),
) -> int:
    """Take note of a finding as it is now, or of some of its causes.

    Returns the id. Raises AcknowledgingError.
    """
    reason = documents.text(reason.strip(), _LONGEST)
    if not reason:
        raise AcknowledgingError("Nothing was acknowledged: say in a sentence why it may stay.")
    if until is not None and until <= now:
        raise AcknowledgingError("Nothing was acknowledged: the time that was given is over.")
    violations = open_alarms.held(shown.looked)
    gone = sorted(name for name in causes if name not in violations)
    if gone:
        raise AcknowledgingError(f"Nothing was acknowledged: {gone[0]} is no cause of it any more.")
    chosen = {name: violations[name] for name in causes} if causes else violations
    if not chosen:
        raise AcknowledgingError("Nothing was acknowledged: the check does not fail now.")
    covers = {name: cause.count for name, cause in chosen.items()}
    with transaction.atomic():
        occurrence = Occurrence.objects.filter(
            cluster=shown.cluster, check_id=shown.check, number=shown.number, cleared_at=None
        ).first()
        if occurrence is None:
            raise AcknowledgingError("Nothing was acknowledged: the finding that was shown has cleared.")
        made = Acknowledgement.objects.create(
            occurrence=occurrence,
            by=documents.text(who.name, 200),
            at=now,
            reason=reason,
            until=until,
            whole=not causes,
            covers=documents.encode(covers),
            severity=open_alarms.worst(shown.check, chosen.values()).value,
        )
        detail = {
            "finding": str(occurrence),
            "acknowledgement": made.pk,
            "reason": reason,
            "until": until and until.isoformat(),
            "causes": sorted(covers)[:_MOST_NAMED] if causes else None,
            "of": len(covers),
        }
        audit.append("acknowledged", who, cluster=shown.cluster, detail=detail)
    return made.pk


def withdraw(cluster: str, check: str, number: int, who: Actor, *, now: datetime.datetime) -> None:
    """Take an acknowledgement back: its finding leads again. Raises AcknowledgingError."""
    with transaction.atomic():
        row = Acknowledgement.objects.filter(
            pk=number, occurrence__cluster=cluster, occurrence__check_id=check
        ).first()
        if row is None or not keeping.end(number, documents.text(f"{who.name} took it back."), now):
            raise AcknowledgingError("Nothing was taken back: the acknowledgement has ended already.")
        detail = {"finding": str(row.occurrence), "acknowledgement": number}
        audit.append("acknowledgement-withdrawn", who, cluster=cluster, detail=detail)
