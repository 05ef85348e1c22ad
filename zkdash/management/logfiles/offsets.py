"""`log offsets`: what groups committed to Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from zkdash.formats.inspection import commits, verifying
from zkdash.formats.kafkalog import frames
from zkdash.formats.problems import Problem
from zkdash.logdirs import listing
from zkdash.management.logfiles.report import Options, Report, row_line

_OFFSETS: Final = "__consumer_offsets"


def offsets(options: Options) -> Iterator[Report]:
    """The last commit of each group, topic and partition in __consumer_offsets."""
    chosen = [log for path in options["paths"] for log in listing.logs(path, _OFFSETS)]
    total = sum(log.size for log in chosen)
    for log in chosen:
        reading = commits.Commits()
        for path in log.segments:
            for frame in frames.walk(source := listing.source(path)):
                if isinstance(frame, Problem):
                    yield Report(finding=(str(path), verifying.told(source, frame)))
                    break
                entry = frames.entry(frame)
                if isinstance(entry, Problem):
                    yield Report(finding=(str(path), entry))
                    continue
                yield from (Report(finding=(str(path), wrong)) for wrong in reading.add(entry))
                yield Report(read=frame.size, total=total)
        yield Report([row_line(options, row) for row in _commits(reading, options["group"])])


def _commits(reading: commits.Commits, group: str) -> Iterator[dict[str, Any]]:
    for key, each in sorted(reading.found.items()):
        if group in ("", key.group):
            yield {
                "group": key.group,
                "topic": key.topic,
                "partition": key.partition,
                "offset": each.value.offset,
                "leader_epoch": each.value.leader_epoch,
                "metadata": each.value.metadata,
                "committed": _moment(each.value.commit_time),
                "record": each.record_offset,
            }


def _moment(time: int) -> str | int:
    """A time in words; of one (epoch ms) that no calendar has, the number."""
    try:
        return datetime.fromtimestamp(time / 1000, UTC).isoformat()
    except (OverflowError, ValueError):
        return time
