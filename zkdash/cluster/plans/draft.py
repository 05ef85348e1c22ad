"""A plan while it is being made: what every kind asks of a cluster first, and where its findings gather."""

from __future__ import annotations

import msgspec

from zkdash.cluster.analysis import kraft
from zkdash.cluster.model.state import Seen
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.plans import broker_racks, intents
from zkdash.cluster.plans.era import Era, era
from zkdash.cluster.plans.goals import Goal
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import (
    MARKER_BYTES,
    MOST_BYTES,
    MOST_OPERATIONS,
    Effect,
    Ground,
    Plan,
    Step,
    Write,
)
from zkdash.kafka import paths
from zkdash.kafka.documents.document import quote
from zkdash.kafka.layouts.migration import parse_migration
from zkdash.kafka.values import Assignment, Controller, Layout, Migration, PartitionState
from zkdash.znode import Operation, Unreadable, Znode


class Draft:
    """Refusals, warnings and steps of one plan. A method returns None where it has refused."""

    def __init__(self, intent: Intent, ground: Ground, target: str) -> None:
        self.intent = intent
        self.ground = ground
        self.state = ground.state
        self.era: Era = era(ground.state)
        self.target = target
        self.refusals: list[str] = []
        self.warnings: list[str] = []
        self.steps: list[Step] = []
        self._idle = ""

    def refuse(self, sentence: str) -> None:
        if sentence not in self.refusals:
            self.refusals.append(sentence)

    def nothing(self, sentence: str) -> None:
        """Refuse, because all is as it was to become: of what is repeated this is a good end."""
        self._idle = sentence
        self.refuse(sentence)

    def warn(self, sentence: str) -> None:
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def step(self, title: str, writes: list[Write], goal: Goal) -> None:
        """Add a step, which is one multi. One that is too large is refused."""
        step = Step(title, tuple(writes), goal)
        if len(writes) >= MOST_OPERATIONS or step.size + MARKER_BYTES > MOST_BYTES:
            self.refuse(
                f"{title} would write {step.size} bytes in {len(writes)} operations at once; "
                f"{MOST_BYTES} bytes and {MOST_OPERATIONS} operations are the most."
            )
        self.steps.append(step)

    def close(self, effect: Effect | None = None, inverse: Intent | None = None) -> Plan:
        """The plan. What is refused has no steps."""
        kind = intents.kind(self.intent)
        if not self.steps and not self.refusals:
            self.refuse("Nothing is left to be written: what was to change is gone.")
        if self.refusals:
            idle = self.refusals == [self._idle]
            return Plan(kind, self.target, (), tuple(self.refusals), tuple(self.warnings), is_idle=idle)
        return Plan(
            kind,
            self.target,
            tuple(self.steps),
            (),
            tuple(self.warnings),
            self._measured(effect or Effect()),
            inverse,
        )

    def _measured(self, effect: Effect) -> Effect:
        writes = [w for step in self.steps for w in step.writes if w.operation is not Operation.CHECK]
        return msgspec.structs.replace(
            effect,
            znodes=len(writes),
            written=sum(len(write.after or b"") for write in writes),
            largest=max((len(write.after or b"") for write in writes), default=0),
        )

    # What a cluster must be

    def require_loaded(self) -> bool:
        """The state is whole, and no KRaft controller owns the metadata."""
        if not self.state.loaded:
            self.refuse("The cluster has not been read yet.")
        if owned := kraft.refusal(self.state, self._migration()):
            self.refuse(owned)
        return not self.refusals

    def require_controller(self) -> bool:
        """As `require_loaded`, of 0.8 and later, with a live controller that will act."""
        self.require_loaded()
        if self.era.layout is Layout.V07:
            self.refuse("Kafka 0.7 has no controller: nothing there acts on what would be written.")
        elif self.era.layout is Layout.MIXED:
            self.refuse("Brokers or topics of 0.7 and of 0.8 or later share this path, by mistake.")
        elif self.state.controller is None:
            self.refuse("There is no controller: nobody would act on what would be written.")
        elif not isinstance(self.state.controller.value, Controller):
            self.refuse("/controller cannot be understood, so that nobody knows who would act.")
        return not self.refusals

    # What a topic must be

    def topic(self, name: str) -> tuple[Topic, Assignment, Znode] | None:
        """A topic of 0.8+ whose assignment and znode can be read."""
        topic = self.state.topics.get(name)
        if topic is None:
            self.refuse(f"There is no topic {quote(name)}.")
            return None
        if not isinstance(topic.assignment, Assignment) or not isinstance(topic.znode, Znode):
            self.refuse(f"The assignment of {quote(name)} cannot be read ({paths.topic(name)}).")
            return None
        return topic, topic.assignment, topic.znode

    def replicas(self, name: str, partition: int) -> tuple[int, ...]:
        """The replicas of a partition as they are now; none where there is no such partition."""
        topic = self.state.topics.get(name)
        assignment = topic.assignment if topic else None
        return assignment.partitions.get(partition, ()) if isinstance(assignment, Assignment) else ()

    def leader(self, name: str, partition: int) -> int:
        """The leader of a partition; -1 where there is none, or nobody can tell."""
        topic = self.state.topics.get(name)
        part = topic.partition(partition) if topic else None
        return part.state.leader if part is not None and isinstance(part.state, PartitionState) else -1

    def live(self) -> set[int]:
        """The registered brokers."""
        return set(self.state.brokers)

    def racks(self) -> dict[int, str]:
        """The rack of every live broker; empty where not each has one (then racks are not respected)."""
        return broker_racks.racks(self.state)

    def _migration(self) -> Seen[Migration] | None:
        """/migration where it was read beside the state."""
        migration = self.ground.tree.get(paths.MIGRATION)
        if isinstance(migration, Znode):
            return Seen(parse_migration(migration.data)[0], migration)
        return None if migration is None else Seen(migration, None)

    def read(self, path: str) -> Znode | None:
        """A znode of those that were read beside the state; one that may not be read is refused."""
        znode = self.ground.tree.get(path)
        if isinstance(znode, Unreadable):
            self.refuse(f"{path} is not readable: {znode.reason}.")
            return None
        return znode
