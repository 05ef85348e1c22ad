"""The outbox: notices are enqueued in the transaction of what they tell of, and sent at least once.

A delivery that was not taken is tried again after 5 s, then three times longer each time, up to an hour; a
day after it was made it is given up. What has ended is deleted after 30 days.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec
from django.conf import settings
from django.db.models import F, QuerySet
from django.utils import timezone

from zkdash.notices import targets
from zkdash.notices.models import Delivery

GIVEN_UP_AFTER = timedelta(days=1)
KEPT = timedelta(days=30)
MOST_WAITING = 10_000
# Longer than any attempt lasts: whoever died meanwhile does not try it any more.
_HELD = timedelta(minutes=2)
_FIRST_S, _FACTOR, _LONGEST_S = 5, 3, 3600
_MOST_CHARACTERS = 300
_AT_ONCE = 50

log = logging.getLogger(__name__)


class Notice(msgspec.Struct, frozen=True):
    """An event of a cluster that its addresses are told of.

    `event` is its kind ("action-ended", "check-raised"), `about` names what it tells of within the cluster
    ("action 42", "check D1"), `sentence` says it to people in one line, `told` is what programs get beside
    `event` and `cluster`: anything made of what JSON has, without secrets. `page` is the page that tells
    more, below that of the cluster ("actions/42/"), "" for none.
    """

    event: str
    cluster: str
    about: str
    sentence: str
    told: Mapping[str, object] = {}
    page: str = ""


def enqueue(notice: Notice) -> int:
    """Keep a notice for each address of its cluster's configuration, and return for how many.

    Within the caller's transaction, if there is one: then it is told exactly if that is committed. Nobody
    is told where 10 000 wait already; the log says so. Raises django.db.DatabaseError.
    """
    names = targets.names(notice.cluster)
    if not names:
        return 0
    if _open().count() >= MOST_WAITING:
        log.warning("Nobody is told of %s of %s: %s wait", notice.about, notice.cluster, MOST_WAITING)
        return 0
    page = link(notice.cluster, notice.page)
    facts = {"event": notice.event, "cluster": notice.cluster, **page, **notice.told}
    body = json.dumps(facts).encode("ascii")
    now, line = timezone.now(), one_line(notice.sentence)
    Delivery.objects.bulk_create(
        Delivery(
            event=notice.event,
            cluster=notice.cluster,
            about=notice.about,
            sentence=line,
            body=body,
            target=name,
            key=uuid.uuid4().hex,
            made_at=now,
            next_at=now,
        )
        for name in names
    )
    return len(names)


def link(cluster: str, page: str) -> Mapping[str, str]:
    """The address of a page below a cluster's, where the configuration says how people reach any."""
    if not page or not settings.ZKDASH_ADDRESS:
        return {}
    return {"url": f"{settings.ZKDASH_ADDRESS}/c/{cluster}/{page}"}


def due(cluster: str, target: str, now: datetime) -> list[Delivery]:
    """The first of those to one address that are to be tried now."""
    waiting = _open().filter(cluster=cluster, target=target, next_at__lte=now)
    return list(waiting.order_by("next_at", "id")[:_AT_ONCE])


def targets_due(now: datetime) -> list[tuple[str, str]]:
    """Cluster and name of each address for which something is to be tried now."""
    return list(_open().filter(next_at__lte=now).order_by().values_list("cluster", "target").distinct())


def claim(delivery: Delivery, now: datetime) -> bool:
    """Take a delivery to try it; False where another process has taken it, or ended it."""
    row = _open().filter(pk=delivery.pk, attempts=delivery.attempts, next_at=delivery.next_at)
    if not row.update(attempts=F("attempts") + 1, next_at=now + _HELD):
        return False
    delivery.attempts += 1
    return True


def taken(delivery: Delivery, now: datetime) -> None:
    """It has arrived."""
    Delivery.objects.filter(pk=delivery.pk).update(ended_at=now, is_taken=True, last_error="")


def refused(delivery: Delivery, why: str, now: datetime) -> bool:
    """It was not taken, which is said; whether it is tried again."""
    last = now >= delivery.made_at + GIVEN_UP_AFTER
    pause_s = min(_FIRST_S * _FACTOR ** min(delivery.attempts - 1, 10), _LONGEST_S)
    _open().filter(pk=delivery.pk, attempts=delivery.attempts).update(
        last_error=one_line(why),
        next_at=now + timedelta(seconds=pause_s),
        ended_at=now if last else None,
    )
    return not last


def forget(now: datetime) -> int:
    """Delete what ended long ago; how many."""
    return Delivery.objects.filter(ended_at__lt=now - KEPT).delete()[0]


def one_line(text: str) -> str:
    """A sentence as a database, a log and the subject of a mail take it."""
    clean = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return clean if len(clean) <= _MOST_CHARACTERS else f"{clean[: _MOST_CHARACTERS - 1]}…"


def _open() -> QuerySet[Delivery]:
    return Delivery.objects.filter(ended_at=None)
