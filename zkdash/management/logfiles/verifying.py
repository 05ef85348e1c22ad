"""`log verify`: whether the files of logs agree."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from zkdash.logdirs import listing, verification
from zkdash.management.logfiles.report import Options, Report


def verified(options: Options) -> Iterator[Report]:
    """Each log held against what lies beside it."""
    logs = [log for path in options["paths"] for log in listing.logs(path)]
    total = sum(log.size for log in logs)
    for directory in dict.fromkeys(log.directory.parent for log in logs):
        for name, problem in listing.noted(directory).problems:
            yield Report(finding=(str(directory / name), problem))
    for log in logs:
        directory = log.directory.parent
        noted, is_live = listing.noted(directory), listing.is_held(directory)
        count = 0
        for each in verification.verify(log, noted, deep=options["deep_iteration"], is_live=is_live):
            if isinstance(each, int):
                yield Report(read=each, total=total)
            else:
                count += 1
                yield Report(finding=(str(directory / each.file), each.problem))
        verdict = f"{count} finding{'s' * (count != 1)}" if count else "sound"
        running = ", while its broker runs" if is_live else ""
        segments = f"{len(log.segments)} segment{'s' * (len(log.segments) != 1)}"
        line = f"{log.name}: {segments}, {log.size} bytes: {verdict}{running}"
        if options["json"]:
            row = {"log": log.name, "segments": len(log.segments), "bytes": log.size, "findings": count}
            line = msgspec.json.encode(row).decode()
        yield Report([line])
