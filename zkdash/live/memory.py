"""Memory that was freed goes back to the system: the C library keeps what lies between what is still used."""

from __future__ import annotations

import ctypes
from typing import Final

_TRIM: Final = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's; other libraries have none


def give_back() -> None:
    """Give back what can be; a matter of milliseconds, from any thread."""
    if _TRIM is not None:
        _TRIM(0)
