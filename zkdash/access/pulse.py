"""Whether the database can be written: found out by writing a little."""

from __future__ import annotations

import logging

from django import db
from django.utils import timezone

from zkdash import databases
from zkdash.access.models import Pulse

log = logging.getLogger(__name__)

_ROW = 1


class Prober:
    """Asked from one thread that may live long and may wait. Says in the log what is new."""

    def __init__(self) -> None:
        self._why = ""

    def __call__(self) -> str:
        """Why the database cannot be written now ("its disk is full"), "" where it can."""
        try:
            db.close_old_connections()
            _write()
            why = said = ""
        except db.Error as error:
            why, said = databases.why(error), databases.line(error)
        finally:
            db.connections.close_all()
        if why and why != self._why:
            log.warning("The database cannot be written: %s", said)
        elif self._why and not why:
            log.info("The database can be written again")
        self._why = why
        return why


def _write() -> None:
    now = timezone.now()
    if not Pulse.objects.filter(pk=_ROW).update(at=now):
        Pulse.objects.bulk_create([Pulse(pk=_ROW, at=now)], ignore_conflicts=True)
