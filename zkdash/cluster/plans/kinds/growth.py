"""Adding partitions: /brokers/topics/T with more entries and everything else as it was.

Who drops topic_id there gets a frozen topic at the next controller election (seen on 3.9.1). While a
topic moves or is marked for deletion, a controller restores its own idea of the assignment.
"""

from __future__ import annotations

from bisect import bisect_left

from zkdash.cluster.model.topics import Topic
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Led
from zkdash.cluster.plans.intents import AddPartitions
from zkdash.cluster.plans.kinds import creations
from zkdash.cluster.plans.values import Effect, Ground, Plan, replace
from zkdash.kafka import paths, topic_names
from zkdash.kafka.assignment import placement
from zkdash.kafka.documents.document import quote
from zkdash.kafka.payloads import editing
from zkdash.kafka.values import Assignment
from zkdash.znode import Znode


def plan(intent: AddPartitions, ground: Ground) -> Plan:
    draft = Draft(intent, ground, intent.topic)
    draft.require_controller()
    if target := draft.topic(intent.topic):
        _grow(intent, draft, *target)
    added = len(draft.steps[0].goal.partitions) if draft.steps and isinstance(draft.steps[0].goal, Led) else 0
    replicas = len(target[1].partitions.get(0, ())) * added if target else 0
    return draft.close(Effect(topics=1, partitions=added, replicas_moved=replicas))


def _grow(intent: AddPartitions, draft: Draft, topic: Topic, now: Assignment, znode: Znode) -> None:
    count = len(now.partitions)
    _possible(intent, draft, topic, now)
    if draft.refusals:
        return
    factor = len(now.partitions[0])
    added = dict(intent.assignment) or _placed(draft, now, intent.total - count, factor)
    creations.check_lists(added, draft, first=count)
    if len(added) != intent.total - count:
        draft.refuse(f"{len(added)} lists of replicas were given for {intent.total - count} new partitions.")
    if any(len(replicas) != factor for replicas in added.values()):
        draft.refuse(f"The topic's partitions have {factor} replicas; new ones must have as many.")
    path = paths.topic(intent.topic)
    try:
        data = editing.extend_assignment(znode.data, added)
    except editing.Uneditable as fault:
        draft.refuse(f"{path} cannot be edited: {fault}.")
        return
    if len(data) > draft.ground.largest:
        draft.refuse(f"The topic's znode would hold {len(data)} bytes; {draft.ground.largest} are the most.")
    draft.warn("Messages with a key go to other partitions from now on, and partitions cannot be taken away.")
    title = f"Add {len(added)} partition{'s' * (len(added) != 1)} to {intent.topic}"
    draft.step(
        title, [replace(path, znode, data, "nothing: partitions stay")], Led(intent.topic, tuple(added))
    )


def _possible(intent: AddPartitions, draft: Draft, topic: Topic, now: Assignment) -> None:
    count = len(now.partitions)
    if intent.topic in topic_names.INTERNAL:
        draft.refuse(f"{intent.topic} is Kafka's own: groups are found in it by its number of partitions.")
    if topic.deleting:
        draft.refuse(f"{quote(intent.topic)} is being deleted.")
    if topic.moving or now.adding or now.removing:
        draft.refuse(
            f"Partitions of {quote(intent.topic)} are being moved: the controller would undo the change."
        )
    if intent.total <= count:
        draft.refuse(f"{quote(intent.topic)} has {count} partitions already; {intent.total} is not more.")
    if intent.total > creations.MOST_PARTITIONS:
        draft.refuse(f"A topic has at most {creations.MOST_PARTITIONS} partitions.")
    if sorted(now.partitions) != list(range(count)) or not now.partitions.get(0):
        draft.refuse(f"The partitions of {quote(intent.topic)} are not numbered from 0 without a gap.")


def _placed(draft: Draft, now: Assignment, more: int, factor: int) -> dict[int, tuple[int, ...]]:
    """By Kafka's rule from 0.10.0 on: begin at the first live broker from partition 0's leader upwards."""
    racks = draft.racks()
    brokers = placement.alternate_racks(racks) if racks else tuple(sorted(draft.state.brokers))
    if factor > len(brokers):
        draft.refuse(f"{factor} replicas do not fit {len(brokers)} live brokers.")
        return {}
    first = now.partitions[0][0]
    if racks:
        later = (at for at, broker in enumerate(brokers) if broker >= first)
        start = next(later, 0)
        return placement.place_in_racks(
            racks,
            partitions=more,
            replication=factor,
            start=start,
            shift=start,
            first_partition=len(now.partitions),
        )
    start = bisect_left(brokers, first) % len(brokers)
    return placement.place(
        brokers,
        partitions=more,
        replication=factor,
        start=start,
        shift=start,
        first_partition=len(now.partitions),
    )


KIND = ActionKind(AddPartitions, "Add partitions", plan)
