"""How much open connections were sent since the process began; counted on the event loop, read by anybody."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Traffic:
    """`frames` were sent to sockets of pages; `feeds` are open now."""

    frames: int = 0
    feeds: int = 0


TRAFFIC = Traffic()
