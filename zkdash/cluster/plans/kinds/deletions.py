"""Deleting a topic: a child of /admin/delete_topics, which the controller acts on when nothing blocks it."""

from __future__ import annotations

from collections.abc import Iterator

from zkdash.cluster.model.topics import Topic
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Gone, Reelected, Written
from zkdash.cluster.plans.intents import CleanUpTopic, DeleteTopic
from zkdash.cluster.plans.kinds import controllers
from zkdash.cluster.plans.multis import in_multis
from zkdash.cluster.plans.values import (
    Effect,
    Ground,
    Needs,
    Plan,
    Write,
    check,
    create,
    remove,
)
from zkdash.kafka import paths, topic_names
from zkdash.kafka.documents.document import few, quote
from zkdash.kafka.values import Assignment, Pattern, Registration
from zkdash.znode import Znode


def plan(intent: DeleteTopic, ground: Ground) -> Plan:
    draft = Draft(intent, ground, intent.topic)
    draft.require_controller()
    target = draft.topic(intent.topic)
    if intent.topic in topic_names.INTERNAL:
        draft.refuse(f"{intent.topic} is Kafka's own topic and is never deleted.")
    if intent.topic in ground.state.deletions:
        draft.refuse(f"{quote(intent.topic)} is marked for deletion already.")
    if draft.read(paths.DELETIONS) is None:
        draft.refuse(f"{paths.DELETIONS} is absent (Kafka 0.8.0): no controller would delete the topic.")
    if target is None:
        return draft.close()
    topic, assignment, znode = target
    for sentence in _blockers(topic, assignment, draft):
        draft.warn(sentence)
    undo = "removing the mark, only before the deletion has begun"
    draft.step(
        f"Mark {intent.topic} for deletion",
        [check(paths.topic(intent.topic), znode.version), create(paths.deletion(intent.topic), None, undo)],
        Gone(intent.topic),
    )
    replicas = sum(map(len, assignment.partitions.values()))
    effect = Effect(topics=1, partitions=len(assignment.partitions), replicas_removed=replicas)
    return draft.close(effect)


def needs_to_clean_up(intent: CleanUpTopic) -> Needs:
    """Every znode of the topic."""
    return Needs(
        paths=(paths.topic_config(intent.topic), paths.deletion(intent.topic)),
        subtrees=(paths.topic(intent.topic),),
    )


def clean_up(intent: CleanUpTopic, ground: Ground) -> Plan:
    """Document 001's procedure for a stuck deletion, with the two steps that it leaves out: the topic's
    configuration, and a new controller, without which the old one remembers the topic."""
    draft = Draft(intent, ground, intent.topic)
    draft.require_controller()
    if intent.topic not in ground.state.deletions:
        draft.refuse(f"{quote(intent.topic)} is not marked for deletion: delete it the ordinary way first.")
    if not intent.folders_removed:
        draft.refuse(
            f"Remove the folders {intent.topic}-* on every broker first, each while its broker is stopped: "
            "a broker that finds them brings the topic's data back."
        )
    for sentence in _returning(intent.topic, draft):
        draft.refuse(f"{sentence} Stop them first.")
    znodes = [draft.read(path) for path in (paths.topic_config(intent.topic), paths.deletion(intent.topic))]
    removed = removals(draft, paths.topic(intent.topic))
    last = (paths.topic_config(intent.topic), paths.deletion(intent.topic))
    removed += [remove(path, znode) for path, znode in zip(last, znodes, strict=True) if znode is not None]
    if not removed:
        draft.refuse(f"Nothing is left of {quote(intent.topic)}.")
    for writes in in_multis(removed):
        draft.step(f"Remove {len(writes)} znodes of {intent.topic}", writes, Written())
    if elected := controllers.election(draft):
        draft.step(
            "Re-elect controller, so that it forgets the topic", [elected.write], Reelected(elected.epoch)
        )
    return draft.close(Effect(topics=1))


def removals(draft: Draft, root: str) -> list[Write]:
    """The deletion of everything below a root that was read, and of the root, leaf first."""
    znodes = ((path, draft.read(path)) for path in reversed(draft.ground.below(root)))
    return [remove(path, znode) for path, znode in znodes if isinstance(znode, Znode)]


def _blockers(topic: Topic, assignment: Assignment, draft: Draft) -> Iterator[str]:
    """What can keep the topic from going, or bring it back."""
    yield "The topic's messages are lost for ever. Offsets of groups and ACLs stay."
    holders = {broker for replicas in assignment.partitions.values() for broker in replicas}
    if dead := sorted(holders.difference(draft.state.brokers)):
        brokers = ", ".join(map(str, dead))
        yield f"The deletion will wait until these brokers, which hold replicas, are back: {brokers}."
    if topic.moving:
        yield "Partitions of the topic are being moved: the deletion waits until they have arrived."
    elif draft.state.reassignment is not None:
        yield "A reassignment runs: the deletion may wait for it."
    yield _enabled(draft)
    yield from _returning(topic.name, draft)


def _enabled(draft: Draft) -> str:
    """What is known of delete.topic.enable, which is not in ZooKeeper."""
    if draft.era.highest >= 5:
        return (
            "delete.topic.enable is not known (true unless set): where it is false, the mark just vanishes."
        )
    if draft.era.highest <= 3:
        return (
            "delete.topic.enable is not known (false unless set): where it is false, the mark stays for ever."
        )
    return (
        "delete.topic.enable is not known (false unless set before 1.0, true since): "
        "where it is false, the mark vanishes or stays, and the topic stays."
    )


def _returning(name: str, draft: Draft) -> Iterator[str]:
    """Old consumers that ask for the topic make it come back (seen on 0.8.2.2)."""
    asking = [
        group for group in sorted(draft.state.consumers.get(name, ())) if _subscribes(group, name, draft)
    ]
    if asking:
        names = ", ".join(few([quote(group) for group in asking]))
        yield f"Live consumers would bring it back, empty, where auto.create.topics.enable is on: {names}."


def _subscribes(group: str, name: str, draft: Draft) -> bool:
    return any(
        isinstance(member.registration, Registration)
        and member.registration.pattern is Pattern.STATIC
        and name in member.registration.subscription
        for member in draft.state.groups[group].members.values()
    )


KIND = ActionKind(
    DeleteTopic,
    "Delete a topic",
    plan,
    needs=lambda _: Needs(paths=(paths.DELETIONS,)),
    confirm=lambda intent: intent.topic,
)
CLEAN_UP = ActionKind(
    CleanUpTopic,
    "Clean up after a stuck deletion",
    clean_up,
    needs=needs_to_clean_up,
    confirm=lambda intent: intent.topic,
    why_not=lambda draft: "" if draft.state.deletions else "No topic is marked for deletion.",
)
