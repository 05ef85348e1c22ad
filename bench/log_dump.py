"""`manage.py log` on one large segment, uncompressed: bytes for a second of a core, and the most memory held.

Each verb is a process of its own, whose start counts; what it prints is thrown away.
"""

from __future__ import annotations

import struct
import sys
import tempfile
from pathlib import Path
from typing import Final

from bench import progress, side
from bench.result import Goal, Result
from bench.side import SideFailedError
from bench.sizes import Size
from tests.formats import messages

_ROOT = Path(__file__).resolve().parent.parent
_BATCH: Final = 16 << 10  # bytes, as producers make them by default
_RECORD: Final = 1 << 10
_LIMIT_S: Final = 600.0
_VERBS: Final = {
    "dump": ("dump",),
    "dump of records": ("dump", "--print-data-log"),
    "verify": ("verify",),
}


def run(size: Size) -> Result:
    """Write the segment, then look at it in each way."""
    with tempfile.TemporaryDirectory(prefix="zkdash-bench-") as directory:
        log = Path(directory, "large-0")
        log.mkdir()
        with progress.step(f"log_dump: writing {size.segment >> 20} MiB"):
            bytes_ = _write(log / f"{0:020}.log", size.segment)
        figures = {}
        for name, verb in _VERBS.items():
            with progress.step(f"log_dump: {name}"):
                figures[name] = _measured(log, verb, bytes_)
    return Result(
        "log_dump",
        size.name,
        figures,
        (
            *(
                Goal(f"{name}: MB/s", each["MB/s"], 50, at_least=True, is_of_core=True)
                for name, each in figures.items()
            ),
            Goal("most memory, MiB", max(each["MiB"] for each in figures.values()), 200),
        ),
    )


def _write(path: Path, size: int) -> int:
    """Batches of v2, alike but for their offsets, which no checksum covers; how many bytes."""
    count = _BATCH // _RECORD
    data = messages.batch(0, [(number, number, b"k", b"v" * _RECORD, ()) for number in range(count)])
    written = offset = 0
    with path.open("wb") as file:
        while written + len(data) <= size:
            written += file.write(struct.pack("!q", offset) + data[8:])
            offset += count
    path.with_suffix(".index").touch()
    return written


def _measured(log: Path, verb: tuple[str, ...], size: int) -> dict[str, float]:
    command = [sys.executable, str(_ROOT / "manage.py"), "log", *verb, str(log)]
    used = side.measured("log_command", *command, limit_s=_LIMIT_S)
    if used["code"]:
        raise SideFailedError(f"log {' '.join(verb)} ended with {used['code']}")
    return {"s of CPU": used["cpu_s"], "MB/s": size / used["cpu_s"] / 1e6, "MiB": used["peak_mib"]}
