"""The owners that one consumer has written: ephemerals below /consumers/G/owners.

After ZookeeperConsumerConnector.reflectPartitionOwnershipDecision and releasePartitionOwnership (0.7 to 1.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kazoo import exceptions

from zkdash.demo.runtime import session
from zkdash.kafka import paths

PartitionKey = tuple[str, str]  # the topic, and the partition as owners are keyed: "3", in 0.7 "1-0"


class PartitionOwnership:
    """What is claimed, as the consumer remembers it: a release looks at nothing else."""

    def __init__(self, zookeeper: session.Session, group: str) -> None:
        self.claimed: Mapping[PartitionKey, str] = {}
        self._zookeeper = zookeeper
        self._group = group

    def release(self) -> None:
        """Delete what this consumer remembers to have claimed."""
        claimed, self.claimed = self.claimed, {}
        self._delete(claimed)

    def claim(self, plan: Mapping[PartitionKey, str]) -> bool:
        """Create the owner of every partition of `plan`, which holds this consumer's own threads.

        One that is there with the same value is a success (the reply to an earlier create was lost). Where
        another member still holds one, all that this attempt made is given back, and the answer is False.
        """
        self._make_parents(plan)
        making = self._zookeeper.create_operation
        failures = self._zookeeper.commit(
            [making(self._path(key), thread.encode(), ephemeral=True)] for key, thread in plan.items()
        )
        refused = [key for key, failure in zip(plan, failures, strict=True) if failure is not None]
        for failure in failures:
            if failure is not None and not isinstance(failure.error, exceptions.NodeExistsError):
                raise failure.error
        if self._differ(plan, refused):
            self._delete([key for key in plan if key not in refused])
            return False
        self.claimed = plan
        return True

    def _differ(self, plan: Mapping[PartitionKey, str], taken: list[PartitionKey]) -> bool:
        """Whether one of the owners that were there already is another's, or was given up meanwhile."""
        reads = self._zookeeper.get_all([self._path(key) for key in taken])
        pairs = zip(taken, reads, strict=True)
        return any(read is None or read.data != plan[key].encode() for key, read in pairs)

    def _make_parents(self, plan: Iterable[PartitionKey]) -> None:
        root = f"{paths.group(self._group)}/owners"
        topics = dict.fromkeys(topic for topic, _ in plan)
        needed = [root, *(f"{root}/{topic}" for topic in topics)] if topics else []
        self._zookeeper.commit([self._zookeeper.create_operation(path, None)] for path in needed)

    def _delete(self, keys: Iterable[PartitionKey]) -> None:
        self._zookeeper.commit([self._zookeeper.delete_operation(self._path(key))] for key in keys)

    def _path(self, key: PartitionKey) -> str:
        return paths.owner(self._group, *key)
