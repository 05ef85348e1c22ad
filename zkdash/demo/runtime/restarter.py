"""How a simulated participant comes back after ZooKeeper lost sight of its session."""

from __future__ import annotations

import logging

from zkdash.demo.runtime import event_loop

log = logging.getLogger(__name__)

RETURN_S = 3.0  # how long a participant takes to start over


class Revival:
    """Starts one participant over, again and again while ZooKeeper is away, until `end`."""

    def __init__(
        self,
        steps: event_loop.Agenda,
        *,
        stop: event_loop.Step,
        start: event_loop.Step,
        after_s: float = RETURN_S,
    ) -> None:
        self._steps = steps
        self._stop = stop
        self._start = start
        self._after_s = after_s
        self._next = event_loop.Timer(lambda: None)
        self._ended = False

    def begin(self) -> None:
        """The participant lost its session: end what is left of it and start over a little later."""
        if self._ended:
            return
        self._stop()
        self.later(self._after_s)

    def later(self, seconds: float) -> None:
        """Start the participant in `seconds`, instead of at any other time that was planned."""
        self.cancel()
        self._next = self._steps.after(seconds, self.now)

    def now(self) -> None:
        """Start the participant, and try again later where that fails."""
        if self._ended:
            return
        try:
            self._start()
        except Exception as error:
            log.info("A simulated participant cannot start yet: %s", error)
            self.begin()

    def cancel(self) -> None:
        """Leave out the start that was planned."""
        self._next.cancel()

    def end(self) -> None:
        """Start nothing any more."""
        self._ended = True
        self.cancel()
