"""The sums over a cluster while a batch is applied: each topic or group takes out what it gave before."""

from __future__ import annotations

from zkdash.cluster.model.groups import GroupSummary
from zkdash.cluster.model.ranking import HasSeverity
from zkdash.cluster.model.state import Counts
from zkdash.cluster.model.topics import TopicSummary
from zkdash.kafka.values import Layout

_V07, _V08, _MIXED = Layout.V07, Layout.V08, Layout.MIXED
_TOPIC_FIELDS = Counts.__struct_fields__[:11]
_GROUP_FIELDS = ("groups", "owned", "unowned")
_NO_TOPIC = (0,) * len(_TOPIC_FIELDS)
_NO_GROUP = (0,) * len(_GROUP_FIELDS)


class Tally:
    """One per batch, thrown away after `close`."""

    def __init__(self, counts: Counts) -> None:
        self._topics = [getattr(counts, field) for field in _TOPIC_FIELDS]
        self._groups = [getattr(counts, field) for field in _GROUP_FIELDS]
        self._severities = list(counts.severities)
        self._group_severities = list(counts.group_severities)

    def topic(self, before: TopicSummary | None, after: TopicSummary | None) -> None:
        """A topic's numbers changed, or it came (before is None), or it went (after is None)."""
        _add(self._topics, _of_topic(before), _of_topic(after))
        _count(self._severities, before, after)

    def group(self, before: GroupSummary | None, after: GroupSummary | None) -> None:
        """As `topic`, for a group."""
        _add(self._groups, _of_group(before), _of_group(after))
        _count(self._group_severities, before, after)

    def close(self, problems: int, critical_problems: int) -> Counts:
        return Counts(
            **dict(zip(_TOPIC_FIELDS, self._topics, strict=True)),
            severities=tuple(self._severities),
            group_severities=tuple(self._group_severities),
            **dict(zip(_GROUP_FIELDS, self._groups, strict=True)),
            problems=problems,
            critical_problems=critical_problems,
        )


def _add(totals: list[int], gone: tuple[int, ...], here: tuple[int, ...]) -> None:
    for at, (was, now) in enumerate(zip(gone, here, strict=True)):
        if was != now:
            totals[at] += now - was


def _count(severities: list[int], before: HasSeverity | None, after: HasSeverity | None) -> None:
    if before is not None:
        severities[before.severity.rank] -= 1
    if after is not None:
        severities[after.severity.rank] += 1


def _of_topic(summary: TopicSummary | None) -> tuple[int, ...]:
    """In the order of the fields of Counts."""
    if summary is None:
        return _NO_TOPIC
    layout = summary.layout
    old = layout is _V07 or layout is _MIXED
    new = layout is _V08 or layout is _MIXED
    if summary.deleting:
        return (1, summary.partitions or 0, 0, 0, 0, 0, 0, 0, 0, old, new)
    return (
        1,
        summary.partitions or 0,
        summary.under_replicated,
        summary.offline,
        summary.leader_dead,
        summary.stateless,
        summary.unparsable,
        summary.preferred,
        summary.preferable,
        old,
        new,
    )


def _of_group(summary: GroupSummary | None) -> tuple[int, ...]:
    if summary is None:
        return _NO_GROUP
    return (1, summary.owned, summary.unowned)
