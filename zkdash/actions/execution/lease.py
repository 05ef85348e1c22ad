"""Holding an action: its lease renewed by a thread of its own, and what people want of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Self

from django.db import Error, connections

from zkdash import databases
from zkdash.actions.execution import leasing
from zkdash.actions.models import Action

LEASE_S = 15.0

log = logging.getLogger(__name__)

Clock = Callable[[], datetime]


class LostError(Exception):
    """Another worker has taken the action over: nothing more may be written."""


class Lease:
    """Renews while the block runs. Leases are for liveness only: what is safe is decided by the fences."""

    def __init__(self, action: Action, clock: Clock, lease_s: float = LEASE_S) -> None:
        self._action, self._clock, self._lease_s = action, clock, lease_s
        self._over = threading.Event()
        self._is_lost = False
        self._thread = threading.Thread(target=self._run, name=f"lease-{action.id}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def wanted(self) -> leasing.Wanted:
        """What people want now. Raises LostError."""
        wanted = None if self._is_lost else leasing.wanted(self._action)
        if wanted is None:
            raise LostError
        return wanted

    def held(self, is_held: bool) -> None:
        """Take the answer of a call of `claims`. Raises LostError where the action is somebody else's."""
        if not is_held:
            raise LostError

    def _run(self) -> None:
        complained = False
        try:
            while not self._over.wait(self._lease_s / 3):
                try:
                    self._is_lost = not leasing.renew(self._action, self._lease_s, self._clock())
                    complained = False
                except Error as error:
                    if not complained:
                        why = databases.line(error)
                        log.warning("The lease of action %s could not be renewed: %s", self._action.id, why)
                    complained = True
                if self._is_lost:
                    return
        finally:
            connections.close_all()
