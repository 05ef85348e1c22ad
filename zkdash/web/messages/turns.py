"""How many looks are done at once: one a person, and so many in all; who comes beyond that tries again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class BusyError(Exception):
    """There is no turn now; one sentence says whose look it waits for."""


class Turns:
    """The looks of this process that are under way, by person."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._people: set[str] = set()

    @contextmanager
    def taken(self, person: str, most: int) -> Iterator[None]:
        """A turn of one person. Raises BusyError."""
        with self._lock:
            if person in self._people:
                raise BusyError("Another look of yours is under way: wait until it has ended, and try again.")
            if len(self._people) >= most:
                raise BusyError(
                    f"{most} people look at messages now, the most at once: try again in a moment."
                )
            self._people.add(person)
        try:
            yield
        finally:
            with self._lock:
                self._people.discard(person)


TURNS = Turns()
