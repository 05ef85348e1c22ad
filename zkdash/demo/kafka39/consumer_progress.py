"""How far the simulated groups have read, and what those committed that keep their offsets in Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from zkdash.demo.consumers.configs import GroupSpec
from zkdash.demo.consumers.offsets import Key, Pace
from zkdash.demo.kafka39.logs import Logs

# Longer ago than the dashboard's newest sample of a log's end may be, so that lag is never below zero.
BEHIND_S = 10.0
# A slow group falls behind at this much of a second in each, then catches up.
SLOW_MOST_S = 150.0
SLOW_FALLS_S = 240.0
SLOW_CATCHES_UP_S = 90.0
# Who is further behind than this takes many commits to catch up: a quarter of the way with each.
AT_ONCE_S = 600.0

Partition = tuple[str, int]


class Readers:
    """Readers of `logs`. `serves` tells whether a partition can be read now, `now` is the logs' clock."""

    def __init__(
        self,
        logs: Logs,
        specs: Iterable[GroupSpec],
        *,
        serves: Callable[[str, int], bool],
        now: Callable[[], float],
    ) -> None:
        self._logs = logs
        self._serves = serves
        self._now = now
        self._committed: dict[str, Mapping[Partition, int]] = {
            spec.name: {} for spec in specs if not spec.commits
        }

    @property
    def groups_in_kafka(self) -> list[str]:
        """The groups that keep their offsets in Kafka, once they committed."""
        return [group for group, commits in self._committed.items() if commits]

    def committed(self, group: str) -> Mapping[Partition, int]:
        """What a group committed to Kafka; empty for a group that did not."""
        return self._committed.get(group, {})

    def pace(self, spec: GroupSpec) -> Pace:
        """A member reads up to some seconds behind the log's end, and never back.

        It begins at that place where it has no offset, and where its offset lies beyond the end: the log
        of a topic that was made anew (auto.offset.reset). Who comes back, or was reset to a place long ago,
        catches up from there, or from where the log starts now.
        """

        def read(key: Key, offset: int | None) -> int | None:
            place = key[0], int(key[1])
            if not spec.commits:
                offset = self._committed[spec.name].get(place, offset)
            if not self._serves(*place):
                return offset
            reached = self._logs.end(*place, ago_s=self.behind_s(spec))
            if offset is not None and offset <= self._logs.end(*place):
                begun = max(offset, self._logs.start(*place))
                at_once = reached - self._logs.end(*place, ago_s=self.behind_s(spec) + AT_ONCE_S)
                reached = max(offset, min(reached, begun + max(at_once, (reached - begun) // 4)))
            if not spec.commits:
                self._committed[spec.name] = {**self._committed[spec.name], place: reached}
            return reached

        return read

    def behind_s(self, spec: GroupSpec) -> float:
        """How old the messages are that the group reads now."""
        if not spec.slow:
            return BEHIND_S
        into = self._now() % (SLOW_FALLS_S + SLOW_CATCHES_UP_S)
        share = into / SLOW_FALLS_S
        if into > SLOW_FALLS_S:
            share = 1 - (into - SLOW_FALLS_S) / SLOW_CATCHES_UP_S
        return BEHIND_S + share * (SLOW_MOST_S - BEHIND_S)
