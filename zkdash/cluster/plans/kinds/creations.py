"""Creating a topic: its configuration, then /brokers/topics/T; partitions and states are the controller's.

Both in one multi, where Kafka's own tools write them one after the other. Source: kafka.zk.AdminZkClient.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Led
from zkdash.cluster.plans.intents import CreateTopic, DeleteTopic
from zkdash.cluster.plans.values import Effect, Ground, Needs, Plan, Write, create, replace
from zkdash.kafka import paths, topic_names
from zkdash.kafka.assignment import placement
from zkdash.kafka.configs import topic_options
from zkdash.kafka.documents.document import few, quote
from zkdash.kafka.payloads import requests
from zkdash.znode import Unreadable, Znode

MOST_PARTITIONS = 200_000


def plan(intent: CreateTopic, ground: Ground) -> Plan:
    draft = Draft(intent, ground, intent.topic)
    draft.require_controller()
    _name(intent.topic, draft)
    for name, value in sorted(intent.config.items()):
        if fault := topic_options.fault(name, value):
            draft.refuse(fault)
    assignment = dict(intent.assignment) or _placed(intent, draft)
    check_lists(assignment, draft, first=0)
    data = requests.topic(assignment, draft.era.topic_version)
    if len(data) > ground.largest:
        draft.refuse(f"The topic's znode would hold {len(data)} bytes; {ground.largest} are the most.")
    undo = "deleting the topic"
    writes = [*_config(intent, draft), create(paths.topic(intent.topic), data, undo)]
    draft.step(f"Create {intent.topic}", writes, Led(intent.topic, tuple(sorted(assignment))))
    replicas = sum(map(len, assignment.values()))
    effect = Effect(topics=1, partitions=len(assignment), replicas_moved=replicas)
    return draft.close(effect, DeleteTopic(intent.topic))


def check_lists(assignment: Mapping[int, tuple[int, ...]], draft: Draft, first: int) -> None:
    """Lists of replicas by partition: ids without a gap, one factor, no broker twice, all of them live."""
    if sorted(assignment) != list(range(first, first + len(assignment))):
        draft.refuse(f"Partitions are numbered from {first} without a gap.")
    if len({len(replicas) for replicas in assignment.values()}) > 1:
        draft.refuse("All partitions of a topic have the same number of replicas.")
    wrong = []
    for number, replicas in sorted(assignment.items()):
        if not replicas or len(set(replicas)) < len(replicas):
            wrong.append(f"Partition {number}: {list(replicas)} is empty or names a broker twice.")
        elif dead := sorted(set(replicas).difference(draft.state.brokers)):
            wrong.append(f"Partition {number}: broker {dead[0]} is not registered.")
    for sentence in few(wrong):
        draft.refuse(sentence)


def _name(name: str, draft: Draft) -> None:
    if fault := topic_names.fault(name):
        draft.refuse(fault)
    elif name in draft.state.topics:
        draft.refuse(f"There is a topic {quote(name)} already.")
    elif name in draft.state.deletions:
        draft.refuse(f"{quote(name)} is marked for deletion: wait until it is gone.")
    if other := topic_names.colliding(name, draft.state.topics):
        draft.refuse(f'{quote(name)} collides with {quote(other)}: in metrics "." and "_" are the same.')
    if name in topic_names.INTERNAL:
        draft.warn(f"{quote(name)} is a topic that Kafka makes by itself.")


def _placed(intent: CreateTopic, draft: Draft) -> dict[int, tuple[int, ...]]:
    """By Kafka's rule; where nobody drew a start, the name decides, so that topics begin everywhere."""
    brokers = sorted(draft.state.brokers)
    if not 1 <= intent.partitions <= MOST_PARTITIONS:
        draft.refuse(f"A topic has 1 to {MOST_PARTITIONS} partitions, not {intent.partitions}.")
        return {}
    usual = placement.usual_replication(len(brokers))
    replication = usual if intent.replication is None else intent.replication
    if not 1 <= replication <= len(brokers):
        draft.refuse(f"{replication} replicas do not fit {len(brokers)} live brokers.")
        return {}
    lot = zlib.crc32(intent.topic.encode())
    start = lot % len(brokers) if intent.start is None else intent.start
    shift = lot // len(brokers) % len(brokers) if intent.shift is None else intent.shift
    if not (0 <= start < len(brokers) and shift >= 0):
        draft.refuse(f"The start is 0 to {len(brokers) - 1} and the shift at least 0.")
        return {}
    racks = draft.racks()
    if racks:
        return placement.place_in_racks(
            racks, partitions=intent.partitions, replication=replication, start=start, shift=shift
        )
    return placement.place(
        brokers, partitions=intent.partitions, replication=replication, start=start, shift=shift
    )


def _config(intent: CreateTopic, draft: Draft) -> list[Write]:
    """Kafka 0.8.0 knows no configuration; one that an earlier topic left is replaced, as Kafka does."""
    path = paths.topic_config(intent.topic)
    data = requests.config(intent.config)
    left = draft.state.remnants.get(intent.topic)
    if left is not None and isinstance(left.config, Unreadable):
        draft.refuse(f"{path} is there and not readable.")
    if left is not None and isinstance(left.config_znode, Znode):
        draft.warn(f"A configuration that an earlier topic left behind is replaced ({path}).")
        return [replace(path, left.config_znode, data, "the data as before")]
    if draft.read(paths.TOPIC_CONFIGS) is not None:
        return [create(path, data)]
    if intent.config:
        draft.refuse(f"{paths.TOPIC_CONFIGS} is absent (Kafka 0.8.0): a topic has no options there.")
    return []


KIND = ActionKind(CreateTopic, "Create a topic", plan, needs=lambda _: Needs(paths=(paths.TOPIC_CONFIGS,)))
