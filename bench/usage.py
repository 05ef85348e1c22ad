"""What a process has used so far."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
from pathlib import Path

_MIB = 1024 * 1024


def cpu_s() -> float:
    """Seconds of CPU, in user and system mode, of all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def cpu_of_s(pid: int) -> float:
    """As `cpu_s`, of another process; to a hundredth of a second."""
    # The name in parentheses may hold anything; utime and stime are the 14th and 15th field.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_all_s(pid: int) -> float:
    """As `cpu_of_s`, with all that it started, and that these did, of those that live or were waited for."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            head, _, tail = path.read_text().rpartition(")")
            fields = tail.split()
            number = int(head.partition(" ")[0])
            children.setdefault(int(fields[1]), []).append(number)
            ticks[number] = sum(map(int, fields[11:15]))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return sum(ticks[each] for each in found) / os.sysconf("SC_CLK_TCK")


def peak_mib(pid: int | None = None) -> float:
    """The most memory that a process, by default this one, ever held.

    Not ru_maxrss, which a fork hands down.
    """
    return _status("VmHWM", pid) / _MIB


def resident_bytes() -> int:
    """The memory held now, garbage aside."""
    gc.collect()
    return _status("VmRSS")


def resident_mib(pid: int) -> float:
    """The memory that another process holds now."""
    return _status("VmRSS", pid) / _MIB


def own_mib(pid: int) -> float:
    """Of `resident_mib` what is the process's own: no pages of files, which the kernel may drop."""
    return _status("RssAnon", pid) / _MIB


def threads_of(pid: int) -> int:
    """How many threads a process has now."""
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def _status(field: str, pid: int | None = None) -> int:
    """A field of a process's status that the kernel gives in kB, in bytes."""
    for line in Path(f"/proc/{pid or 'self'}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise LookupError(f"/proc/{pid or 'self'}/status has no {field}: measuring memory needs Linux")
