"""Which consumer thread owns which partition, by the arithmetic of kafka.consumer.RangeAssignor."""

from __future__ import annotations

from collections.abc import Collection


def assign_range(partitions: Collection[int], threads: Collection[str]) -> dict[int, str]:
    """Owner by partition of one topic in 0.8+: consecutive runs, the first threads take one more each.

    `threads` are the ids `<consumer id>-<n>` of the members that subscribe to the topic; they sort as
    text in every release (`-10` before `-2`), partitions as numbers. Nobody to own: an empty answer.
    """
    if not threads:
        return {}
    runs, extra = divmod(len(partitions), len(threads))
    waiting = iter(sorted(partitions))
    owners: dict[int, str] = {}
    for index, thread in enumerate(sorted(threads)):
        for _ in range(runs + (1 if index < extra else 0)):
            owners[next(waiting)] = thread
    return owners
