"""Free TCP ports of the loopback address, for servers that must be told theirs beforehand.

Below 32768, because Linux hands out higher ones to outgoing connections: a server that was killed
could find its port taken when it is started again.
"""

from __future__ import annotations

import contextlib
import random
import socket

# Not the one that can be seeded: processes that begin alike would all want the same ports.
_chance = random.SystemRandom()


def free(count: int = 1, *, among: range = range(20_000, 32_768)) -> tuple[int, ...]:
    """Return different ports that nobody listens on right now; somebody may take one before you do."""
    choices = _chance.sample(among, k=2_000)
    found: list[int] = []
    for port in choices:
        if is_free(port):
            found.append(port)
            if len(found) == count:
                return tuple(found)
    raise OSError(f"no {count} free ports found on 127.0.0.1 between {among[0]} and {among[-1]}")


def is_free(port: int) -> bool:
    """Tell whether a server could listen on this port of 127.0.0.1 now."""
    with contextlib.closing(socket.socket()) as probe:
        # As Java does: a port is free again although connections to its last server linger.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
