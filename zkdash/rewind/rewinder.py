"""The process that tells the past: started with the first question, asked one by one, ended when idle.

Whatever becomes of it, who asks hears a sentence, and nobody else notices: the next question starts another.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from zkdash import extras
from zkdash.configuration.limits import Limits
from zkdash.rewind import wire
from zkdash.rewind.wire import Answer, Question

_END_LIMIT_S: Final = 2.0


class AwayError(Exception):
    """The past cannot be told now; one sentence says why."""


class Rewinder:
    """`rewind` as a process of its own, by our command line. `environment` is added to this process's."""

    def __init__(self, command: Sequence[str], limits: Limits, environment: Mapping[str, str] = {}) -> None:
        self._command, self._limits, self._environment = command, limits, environment
        self._places = threading.BoundedSemaphore(limits.past_requests)
        self._turn = threading.Lock()
        self._over = False
        self._running: _Running | None = None
        self._idle: threading.Timer | None = None

    def ask(self, question: Question) -> Answer:
        """What it answers; waits for a turn, then for that, `past_s` in all. Raises AwayError."""
        if not self._places.acquire(blocking=False):
            raise AwayError(
                f"{self._limits.past_requests} requests for the past wait already; try again in a moment"
            )
        deadline = time.monotonic() + self._limits.past_s
        try:
            with self._own_turn(deadline):
                return self._asked(question, deadline)
        finally:
            self._places.release()

    @property
    def pid(self) -> int | None:
        """Of the process, None while there is none."""
        running = self._running
        return None if running is None else running.process.pid

    def stop(self) -> None:
        """End it, and answer nobody any more."""
        self._over = True
        if self._idle is not None:
            self._idle.cancel()
        running, self._running = self._running, None
        if running is not None:
            running.end()

    @contextlib.contextmanager
    def _own_turn(self, deadline: float) -> Iterator[None]:
        if not self._turn.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise AwayError(self._late())
        try:
            yield
        finally:
            self._turn.release()

    def _asked(self, question: Question, deadline: float) -> Answer:
        if self._idle is not None:
            self._idle.cancel()
        running = self._begun()
        try:
            wire.send(running.connection, question, deadline)
            answer = wire.receive(running.connection, wire.ANSWERS, deadline)
        except TimeoutError:
            self._drop(running)
            raise AwayError(self._late()) from None
        except OSError:
            code = self._drop(running)
            raise AwayError(
                f"the process that tells it ended ({_words(code)}); the next question starts another"
            ) from None
        if answer.failed:
            self._drop(running)
            raise AwayError(answer.failed)
        self._idle = threading.Timer(self._limits.past_idle_s, self._rest)
        self._idle.daemon = True
        self._idle.start()
        return answer

    def _begun(self) -> _Running:
        """The process, begun anew where it is not there. Raises AwayError."""
        if self._over:
            raise AwayError("zkdash is ending")
        if lacking := extras.missing("pipeline", "it"):
            raise AwayError(lacking.removesuffix("."))
        if self._running is not None and self._running.process.poll() is not None:
            self._drop(self._running)
        if self._running is None:
            try:
                self._running = _Running(self._command, {**os.environ, **self._environment})
            except OSError as error:
                raise AwayError(f"the process that tells it cannot be started: {error.strerror}") from error
        return self._running

    def _drop(self, running: _Running) -> int:
        """Have no more to do with it; its exit code."""
        self._running = None
        return running.end()

    def _rest(self) -> None:
        """Nobody asked for a while: end it."""
        with self._turn:
            if self._running is not None and threading.current_thread() is self._idle:
                self._drop(self._running)

    def _late(self) -> str:
        return (
            f"it took longer than {self._limits.past_s:g} s (past_s of [limits]): try again, or ask for less"
        )


class _Running:
    """One such process and the socket to it. Raises OSError where it cannot be started."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.connection, theirs = socket.socketpair()
        with theirs:
            try:
                # It ends with the socket, however this process ends. It is a group of its own, since a
                # terminal's Ctrl-C is not for it, in the same session: Linux may weigh processes within one
                # only (sched(7), autogroup), and this one comes first.
                self.process = subprocess.Popen(  # noqa: S603 - our own command
                    [*command, "rewind", str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env=environment,
                    pass_fds=[theirs.fileno()],
                    process_group=0,
                )
            except OSError:
                self.connection.close()
                raise

    def end(self) -> int:
        """Close the socket, and see that the process ends; its exit code."""
        self.connection.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(_END_LIMIT_S if self.process.poll() is None else None)
        self.process.kill()
        return self.process.wait()


def _words(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"with code {code}"
