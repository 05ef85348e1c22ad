"""What this process has used so far."""

from __future__ import annotations

import gc
import resource
from pathlib import Path

_MIB = 1024 * 1024


def cpu_s() -> float:
    """Seconds of CPU, in user and system mode, of all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mib() -> float:
    """The most memory this process ever held. (Not ru_maxrss, which a fork hands down.)"""
    return _status("VmHWM") / _MIB


def resident_bytes() -> int:
    """The memory held now, garbage aside."""
    gc.collect()
    return _status("VmRSS")


def _status(field: str) -> int:
    """A field of /proc/self/status that the kernel gives in kB, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise LookupError(f"/proc/self/status has no {field}: measuring memory needs Linux")
