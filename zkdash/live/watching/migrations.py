"""How far the groups that somebody looks at have moved their offsets to Kafka, sample by sample."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.broker.samples import GroupCommits, Samples, UnknownCommits
from zkdash.cluster.analysis import migration
from zkdash.cluster.analysis.migration import Migration, Sample
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.state import ClusterState
from zkdash.live.watching import positions

Judged = Mapping[str, Migration]  # by group


class Migrations:
    """The histories of one cluster, as long as the coordinators of its groups are asked. One thread only."""

    def __init__(self) -> None:
        self._seen: dict[str, GroupCommits | UnknownCommits] = {}
        self._histories: dict[str, tuple[Sample, ...]] = {}
        self._judged: Judged = {}
        self._commits: Mapping[str, GroupCommits | UnknownCommits] = {}

    def look(self, state: ClusterState, samples: Samples, now: int) -> Judged:
        """Take what coordinators told anew into the histories; the same object where no verdict changed."""
        if samples.commits is self._commits:
            return self._judged
        self._commits = samples.commits
        judged = dict(self._judged)
        for name in self._seen.keys() - samples.commits.keys():
            self._forget(name)
            judged.pop(name, None)
        for name, commits in samples.commits.items():
            group = state.groups.get(name)
            if group is not None and self._seen.get(name) is not commits:
                self._seen[name] = commits
                judged[name] = self._judge(group, commits, samples, now)
        if judged != self._judged:
            self._judged = judged
        return self._judged

    def _judge(
        self, group: Group, commits: GroupCommits | UnknownCommits, samples: Samples, now: int
    ) -> Migration:
        in_kafka = {topic for topic, _ in positions.kept(samples, group.name)}
        left = positions.lag(samples, group, {*group.offsets, *in_kafka})
        sample = migration.sample(
            group,
            now,
            {place: commit.offset for place, commit in commits.commits.items()}
            if isinstance(commits, GroupCommits)
            else None,
            kafka_reason=commits.reason if isinstance(commits, UnknownCommits) else None,
            lag=left if isinstance(left, int) else None,
        )
        history = migration.keep(self._histories.get(group.name, ()), sample)
        self._histories[group.name] = history
        return migration.judge(history)

    def _forget(self, name: str) -> None:
        del self._seen[name]
        self._histories.pop(name, None)
