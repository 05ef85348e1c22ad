"""What a broker that was started on these directories would cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from zkdash.formats.inspection import recovery
from zkdash.formats.inspection.index_rules import Settings
from zkdash.formats.inspection.recovery import Fate, LogState, Segment
from zkdash.logdirs import listing
from zkdash.logdirs.listing import Log, Noted


def fates(log: Log, noted: Noted, settings: Settings, *, is_clean: bool) -> Iterator[Fate]:
    """What becomes of each segment of a log. Raises OSError."""
    whose = log.topic, log.partition
    snapshots = tuple(map(listing.base_offset, listing.snapshots(log.directory)))
    state = LogState(is_clean, noted.recovery_points.get(whose, 0), noted.starts.get(whose, 0), snapshots)
    segments = [_segment(path) for path in log.segments]
    return recovery.oldest(segments, state) if log.is_oldest else recovery.log(segments, state, settings)


def _segment(path: Path) -> Segment:
    index, times = path.with_suffix(".index"), path.with_suffix(".timeindex")
    return Segment(
        listing.base_offset(path),
        listing.source(path),
        listing.source(index) if index.exists() else None,
        listing.source(times) if times.exists() else None,
        listing.beside(path.with_suffix(".txnindex")),
    )
