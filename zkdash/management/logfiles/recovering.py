"""`log recover --dry-run`: what a start would cut."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from zkdash.formats.inspection.index_rules import Settings
from zkdash.formats.inspection.recovery import Fate, What
from zkdash.logdirs import listing, recovering
from zkdash.logdirs.listing import Log
from zkdash.management.logfiles.report import Options, Report


def recovered(options: Options) -> Iterator[Report]:
    """What becomes of each segment that a start would touch."""
    for path in options["paths"]:
        for log in listing.logs(path):
            yield from _fates(log, options)


def _fates(log: Log, options: Options) -> Iterator[Report]:
    directory = log.directory.parent
    release = options["release"] or listing.guessed_release(log)
    settings = Settings(release, options["index_interval_bytes"], options["message_max_bytes"])
    is_clean = options["clean"] or listing.is_clean(directory)
    guessed = "" if options["release"] else ", as its files tell; --release says another"
    stop = "a clean stop" if is_clean else "no clean stop"
    if listing.is_held(directory):
        stop += "; its broker runs, and may cut nothing when it is stopped"
    if not options["json"]:
        yield Report([f"{log.name}: release {release[0]}.{release[1]}{guessed}; {stop}"])
    for fate in recovering.fates(log, listing.noted(directory), settings, is_clean=is_clean):
        suffix = "kafka" if log.is_oldest else "log"
        name = f"{fate.base_offset:020}.{suffix}"
        is_harm = fate.lost > 0 or fate.what in (What.REFUSED, What.SPLIT)
        if options["json"]:
            row = {"log": log.name, "segment": name, "fate": fate.what.name.lower(), "size": fate.size}
            row |= {"kept": fate.kept, "lost": fate.lost, "why": fate.why}
            yield Report([msgspec.json.encode(row).decode()], told=int(is_harm))
        else:
            yield Report([f"  {name}: {_worded(fate)}"], told=int(is_harm))
    for leftover in log.leftovers():
        if not options["json"]:
            yield Report([f"  {leftover}: left by a deletion or a cleaning, which the start ends"])


def _worded(fate: Fate) -> str:
    words = fate.what.value
    if fate.lost:
        words += f", {fate.kept} of {fate.size} bytes stay and {fate.lost} are lost"
    return f"{words}: {fate.why}" if fate.why else words
