"""How much open connections were sent since the process began; counted on the event loop, read by anybody."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Traffic:
    """`frames` were sent to sockets of pages; `renders` were made for them, in `render_s` seconds of CPU.

    `feeds` are open now.
    """

    frames: int = 0
    feeds: int = 0
    renders: int = 0
    render_s: float = 0.0


TRAFFIC = Traffic()
