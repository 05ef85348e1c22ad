"""How far groups have read, and what those committed that keep their offsets in Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from zkdash.demo.consumers.configs import GroupConfig
from zkdash.demo.consumers.offsets import NextOffset
from zkdash.demo.consumers.ownership import PartitionKey
from zkdash.demo.kafka39.logs import Logs

# Longer ago than the dashboard's newest sample of a log's end may be, so that lag is never below zero.
LAG_S = 10.0
# A group that lags falls behind for so long, up to so many seconds, then catches up.
MOST_LAG_S = 150.0
FALLS_BEHIND_S = 240.0
CATCHES_UP_S = 90.0
# Who is further behind than this takes many commits to catch up: a quarter of the way with each.
AT_ONCE_S = 600.0

Partition = tuple[str, int]


class ConsumerProgress:
    """Of groups that read `logs`.

    `serves` tells whether a partition can be read now, `now` is the clock of the logs.
    """

    def __init__(
        self,
        logs: Logs,
        configs: Iterable[GroupConfig],
        *,
        serves: Callable[[str, int], bool],
        now: Callable[[], float],
    ) -> None:
        self._logs = logs
        self._serves = serves
        self._now = now
        self._committed: dict[str, Mapping[Partition, int]] = {
            config.name: {} for config in configs if not config.commits
        }

    @property
    def groups_in_kafka(self) -> list[str]:
        """The groups that keep their offsets in Kafka, once they committed."""
        return [group for group, commits in self._committed.items() if commits]

    def committed(self, group: str) -> Mapping[Partition, int]:
        """What a group committed to Kafka; empty for a group that did not."""
        return self._committed.get(group, {})

    def next_offset(self, config: GroupConfig) -> NextOffset:
        """A member reads up to some seconds behind the log's end, and never back.

        It begins at that place where it has no offset, and where its offset lies beyond the end: the log
        of a topic that was made anew (auto.offset.reset). Who comes back, or was reset to a place long ago,
        catches up from there, or from where the log starts now.
        """

        def read(key: PartitionKey, offset: int | None) -> int | None:
            place = key[0], int(key[1])
            if not config.commits:
                offset = self._committed[config.name].get(place, offset)
            if not self._serves(*place):
                return offset
            reached = self._logs.end(*place, ago_s=self.lag_s(config))
            if offset is not None and offset <= self._logs.end(*place):
                begun = max(offset, self._logs.start(*place))
                at_once = reached - self._logs.end(*place, ago_s=self.lag_s(config) + AT_ONCE_S)
                reached = max(offset, min(reached, begun + max(at_once, (reached - begun) // 4)))
            if not config.commits:
                self._committed[config.name] = {**self._committed[config.name], place: reached}
            return reached

        return read

    def lag_s(self, config: GroupConfig) -> float:
        """How old the messages are that the group reads now."""
        if not config.lags:
            return LAG_S
        into = self._now() % (FALLS_BEHIND_S + CATCHES_UP_S)
        share = into / FALLS_BEHIND_S
        if into > FALLS_BEHIND_S:
            share = 1 - (into - FALLS_BEHIND_S) / CATCHES_UP_S
        return LAG_S + share * (MOST_LAG_S - LAG_S)
