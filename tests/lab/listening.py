"""Ports for what the lab starts, apart from those that other tests choose for theirs at the same time.

A broker keeps its port while it is down, where nothing but this keeps others from taking it.
"""

from __future__ import annotations

from zkdash.demo.runtime import ports

_AMONG = range(10_000, 20_000)
_given: set[int] = set()


def free_port() -> int:
    """A port that nobody listens on, and that this process has not got from here before."""
    while True:
        (port,) = ports.free(among=_AMONG)
        if port not in _given:
            _given.add(port)
            return port
