"""Electing preferred replicas: /admin/preferred_replica_election.

An entry for a topic that does not exist jams the controllers of 0.8 to 1.1, so that only what exists is
asked for; and only what would succeed, because the rest only costs the controller time.
"""

from __future__ import annotations

from collections.abc import Iterator

from zkdash.cluster.model.topics import Partition, Topic
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Consumed
from zkdash.cluster.plans.intents import ElectPreferred
from zkdash.cluster.plans.values import MOST_OPERATIONS, Effect, Ground, Plan, create
from zkdash.kafka import paths
from zkdash.kafka.documents.document import few, quote
from zkdash.kafka.payloads import requests
from zkdash.kafka.values import PartitionState

_ENTRY = len('{"topic":"","partition":2147483647},')


def plan(intent: ElectPreferred, ground: Ground) -> Plan:
    draft = Draft(intent, ground, ", ".join(intent.topics) or "all topics")
    draft.require_controller()
    if busy := _why_not(draft):
        draft.refuse(busy)
    wanted = _wanted(intent, draft)
    chosen = [pair for pair, reason in wanted if not reason]
    if not wanted:
        draft.nothing("No election would change anything: each partition is led by its preferred replica.")
    elif not chosen:
        draft.refuse("No election would succeed now.")
    for sentence in few([reason for _, reason in wanted if reason]):
        (draft.warn if chosen else draft.refuse)(sentence)
    for batch in requests.batches(
        chosen,
        len(chosen),
        bytes_each=_ENTRY,
        largest=ground.largest - 100,
        topics=MOST_OPERATIONS,
    ):
        partitions = chosen[batch.start : batch.stop]
        draft.step(
            f"Ask the controller to elect {len(partitions)} preferred leaders",
            [create(paths.ELECTION, requests.election(partitions), "the controller removes it")],
            Consumed(paths.ELECTION),
        )
    topics = len({topic for topic, _ in chosen})
    return draft.close(Effect(topics=topics, partitions=len(chosen), leaders_moved=len(chosen)))


def _wanted(intent: ElectPreferred, draft: Draft) -> list[tuple[tuple[str, int], str]]:
    """Each partition that is not led by its preferred replica, and why it cannot be (empty: it can)."""
    obstacles = []
    for topic in _topics(intent, draft):
        ids = {number for name, number in intent.partitions if name == topic.name}
        for unknown in sorted(ids.difference(part.id for part in topic.partitions)):
            draft.refuse(f"{quote(topic.name)} has no partition {unknown}.")
        for part in topic.partitions:
            if ids and part.id not in ids:
                continue
            if part.replicas and not (
                isinstance(part.state, PartitionState) and part.state.leader == part.replicas[0]
            ):
                obstacles.append(((topic.name, part.id), _obstacle(topic, part, draft)))
    return obstacles


def _topics(intent: ElectPreferred, draft: Draft) -> Iterator[Topic]:
    names = [*intent.topics, *(name for name, _ in intent.partitions)]
    for name in dict.fromkeys(names) if names else sorted(draft.state.topics):
        if topic := draft.state.topics.get(name):
            yield topic
        else:
            draft.refuse(f"There is no topic {quote(name)}.")


def _obstacle(topic: Topic, part: Partition, draft: Draft) -> str:
    here = f"{topic.name}-{part.id} is left out:"
    first = part.replicas[0] if part.replicas else -1
    if topic.deleting:
        return f"{here} the topic is being deleted."
    if part.id in topic.moving:
        return f"{here} it is being moved."
    if not isinstance(part.state, PartitionState):
        return f"{here} its state cannot be read."
    if first not in draft.state.brokers:
        return f"{here} broker {first} is not registered."
    if first not in part.state.isr:
        return f"{here} broker {first} is not in sync."
    return ""


def _why_not(draft: Draft) -> str:
    if draft.state.election is None:
        return ""
    return f"An election was asked for and is not done yet ({paths.ELECTION} is there)."


KIND = ActionKind(ElectPreferred, "Elect preferred leaders", plan, why_not=_why_not, repeats=True)
