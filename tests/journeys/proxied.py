"""What stands before the processes of journeys in a full run: nginx, by TLS, below a path of its host."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.nginx import Nginx
from tests.serving import Served, starter
from zkdash.demo.runtime import ports

PREFIX: Final = "/ops/zkdash"


@contextlib.contextmanager
def serving(below: Path, **settings: str | Path) -> Iterator[Served]:
    """A `serve` that is asked through the proxy, by the address of that."""
    (port,) = ports.free()
    with Nginx(below / "nginx", [port], PREFIX) as proxy, starter(below) as start:
        served = start(
            port=str(port),
            forked=False,  # addresses are made when modules are imported
            ZKDASH_PREFIX=PREFIX,
            ZKDASH_HTTPS="1",
            ZKDASH_PROXIES="127.0.0.1",
            ZKDASH_ORIGINS=proxy.origin,
            **settings,
        )
        served.address, served.trust = proxy.address, proxy.trust
        yield served
