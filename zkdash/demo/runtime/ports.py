"""Free TCP ports of the loopback address, for servers that must be told theirs beforehand.

Below 32768, because Linux hands out higher ones to outgoing connections: a server that was killed
could find its port taken when it is started again.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import sys
from collections import deque
from typing import Final

# Not the one that can be seeded: processes that begin alike would all want the same ports.
_chance: Final = random.SystemRandom()

# Until its server listens, and while that is down to be started again, a port is ours by a socket's name: one
# process has an abstract name, and loses it with its end. A claim costs a file descriptor: the oldest go.
_CLAIMS: Final = 128
_claims: Final[deque[int]] = deque()  # their file descriptors


def free(count: int = 1, *, among: range = range(20_000, 32_768)) -> tuple[int, ...]:
    """Return different ports that nobody listens on right now.

    Nobody else who asks here, in whatever process, is told the same ones meanwhile.
    """
    chosen: list[int] = []
    for port in _chance.sample(among, k=min(2_000, len(among))):
        if _is_claimed(port) and is_free(port):
            chosen.append(port)
            if len(chosen) == count:
                return tuple(chosen)
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


def _is_claimed(port: int) -> bool:
    """Claim a port; whether nobody else has. Where names cannot be abstract, as Linux's can, nobody has."""
    if sys.platform != "linux":
        return True
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0zkdash-port-{port}")
    except OSError:
        claim.close()
        return False
    _claims.append(claim.detach())
    if len(_claims) > _CLAIMS:
        os.close(_claims.popleft())
    return True
