"""How a simulated participant comes back after ZooKeeper lost sight of its session."""

from __future__ import annotations

import logging

from zkdash.demo.runtime import event_loop

log = logging.getLogger(__name__)

RETURN_S = 3.0  # how long a participant takes to start over


class Restarter:
    """Starts one participant over, again and again while ZooKeeper is away, until `close`."""

    def __init__(
        self,
        loop: event_loop.EventLoop,
        *,
        stop: event_loop.Task,
        start: event_loop.Task,
        after_s: float = RETURN_S,
    ) -> None:
        self._loop = loop
        self._stop = stop
        self._start = start
        self._after_s = after_s
        self._next = event_loop.TimerHandle(lambda: None)
        self._ended = False

    def restart(self) -> None:
        """The participant lost its session: end what is left of it and start over a little later."""
        if self._ended:
            return
        self._stop()
        self.start_in(self._after_s)

    def start_in(self, seconds: float) -> None:
        """Start the participant in `seconds`, instead of at any other time that was planned."""
        self.cancel()
        self._next = self._loop.call_later(seconds, self.start_now)

    def start_now(self) -> None:
        """Start the participant, and try again later where that fails."""
        if self._ended:
            return
        try:
            self._start()
        except Exception as error:
            log.info("A simulated participant cannot start yet: %s", error)
            self.restart()

    def cancel(self) -> None:
        """Leave out the start that was planned."""
        self._next.cancel()

    def close(self) -> None:
        """Start nothing any more."""
        self._ended = True
        self.cancel()
