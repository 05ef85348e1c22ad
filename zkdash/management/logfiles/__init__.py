"""The verbs of `manage.py log`, a module each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from zkdash.management.logfiles import dumping, finding, offsets, recovering, verifying
from zkdash.management.logfiles.report import Options, Report

VERBS: Final[dict[str, Callable[[Options], Iterator[Report]]]] = {
    "dump": dumping.dumped,
    "verify": verifying.verified,
    "recover": recovering.recovered,
    "find": finding.found,
    "offsets": offsets.offsets,
}
