"""Deletion of topics: the children of /admin/delete_topics (kafka.controller.TopicDeletionManager).

A topic goes once all its replicas' brokers live and no move of it runs; until then its marker waits. Its
replicas take a moment to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from zkdash.demo.kafka39.controller import controller_context, leader_and_isr
from zkdash.demo.kafka39.topic_partition import TopicPartition
from zkdash.demo.runtime import event_loop, session
from zkdash.kafka import paths

# How long a topic's replicas take to stop, and each of its partitions.
STOP_S = 0.5
STOP_EACH_S = 0.02


class TopicDeletionManager:
    """The topics marked for deletion, as one controller sees them. `process` runs a task of it."""

    def __init__(
        self,
        context: controller_context.ControllerContext,
        zookeeper: session.Session,
        *,
        loop: event_loop.EventLoop,
        process: Callable[[event_loop.Task], None],
    ) -> None:
        self._context = context
        self._zookeeper = zookeeper
        self._loop = loop
        self._process = process
        self._marked: list[str] = []
        self._stopping: dict[str, float] = {}  # when the replicas of a topic have stopped

    def read(self) -> None:
        """Read the markers and be told of the next. Those of topics that do not exist are removed."""
        names = self._zookeeper.children(paths.DELETIONS, then=lambda: self._process(self.read))
        unknown = [name for name in names if name not in self._context.topics]
        self._context.delete(*(paths.deletion(name) for name in unknown))
        self._marked = [name for name in names if name not in unknown]

    def is_deleting(self, topic: str) -> bool:
        return topic in self._marked

    def advance(self, live: frozenset[int]) -> None:
        """Delete every marked topic that can be deleted now, once its replicas have stopped."""
        now = self._loop.now()
        for name in list(self._marked):
            assignment = self._context.topics.get(name)
            if assignment is None:
                self._marked.remove(name)
            elif assignment.reassigned or not all(set(r) <= live for r in assignment.partitions.values()):
                self._stopping.pop(name, None)
            elif name not in self._stopping:
                wait = STOP_S + STOP_EACH_S * len(assignment.partitions)
                self._stopping[name] = now + wait
                self._loop.call_later(wait, lambda: self._process(lambda: None))
            elif now >= self._stopping[name]:
                self._delete(name, assignment)

    def _delete(self, name: str, assignment: controller_context.TopicAssignment) -> None:
        """Stop the replicas, then remove states, partitions, topic, overrides and marker, in that order."""
        keys = [TopicPartition(name, p) for p in assignment.partitions]
        self._stop_followers(keys)
        self._stop_leaders(keys)
        self._context.delete(*self._paths(name, keys))
        self._context.remove_topic(name)
        self._marked.remove(name)
        del self._stopping[name]

    def _stop_followers(self, keys: list[TopicPartition]) -> None:
        states = self._context.states
        stopped = {
            key: leader_and_isr.remove_from_isr(
                states[key].state, set(states[key].state.isr) - {states[key].state.leader}
            )
            for key in keys
            if key in states
        }
        self._context.set_states(stopped)

    def _stop_leaders(self, keys: list[TopicPartition]) -> None:
        states = self._context.states
        stopped = {
            key: leader_and_isr.remove_from_isr(states[key].state, {states[key].state.leader})
            for key in keys
            if key in states
        }
        self._context.set_states(stopped)

    def _paths(self, name: str, keys: list[TopicPartition]) -> Iterator[str]:
        for key in keys:
            yield key.state_path
            yield key.path
        yield from (
            paths.partitions(name),
            paths.topic(name),
            paths.topic_config(name),
            paths.deletion(name),
        )
