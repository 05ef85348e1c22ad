"""When each znode that does not parse was first read so by this process."""

from __future__ import annotations

from collections.abc import Container, Iterable

import immutables

Sightings = immutables.Map[str, int]


def look(before: Sightings, paths: Iterable[str], problems: Container[str], now_ms: int) -> Sightings:
    """The sightings (path to epoch ms) after `paths` were read: a repaired znode is forgotten.

    The cost follows the paths, not the cluster. Where nothing changed `before` itself is returned.
    """
    if not before and not problems:
        return before
    first_seen = before.mutate()
    for path in paths:
        if path not in problems:
            first_seen.pop(path, None)
        elif path not in first_seen:
            first_seen[path] = now_ms
    return first_seen.finish()
