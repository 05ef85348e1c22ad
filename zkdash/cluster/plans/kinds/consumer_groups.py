"""Groups of ZooKeeper consumers: deleting one, or what it keeps of a topic, while nobody is in it.

That nobody is in it holds at the write itself: /consumers/G/ids is deleted in the same multi, which fails
where a consumer has a child there, and is made again where the group stays.
Source: kafka.admin.ConsumerGroupCommand and kafka.utils.ZkUtils of 0.9 to 1.1.
"""

from __future__ import annotations

from zkdash.cluster.model.groups import Group
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Written
from zkdash.cluster.plans.intents import DeleteGroup, OffsetAt, ResetOffsets
from zkdash.cluster.plans.kinds.deletions import removals
from zkdash.cluster.plans.multis import in_multis
from zkdash.cluster.plans.values import Effect, Ground, Needs, Plan, Write, create, remove
from zkdash.kafka import paths
from zkdash.kafka.documents.document import quote
from zkdash.znode import Operation


def needs(group: str) -> Needs:
    """Every znode of the group: directories are not in the state."""
    return Needs(subtrees=(paths.group(group),))


def plan(intent: DeleteGroup, ground: Ground) -> Plan:
    draft = Draft(intent, ground, intent.group)
    draft.require_loaded()
    group = inactive(intent.group, draft)
    if group is None:
        return draft.close()
    root = paths.group(intent.group)
    if intent.topic is None:
        removed, what = _all(draft, root), f"group {intent.group}"
    else:
        removed, what = _topic(draft, root, intent.topic), f"{intent.topic} of group {intent.group}"
    for writes in in_multis(removed):
        draft.step(f"Remove {len(writes)} znodes of {what}", writes, Written())
    topics = [name for name in sorted(group.offsets) if intent.topic in {None, name}]
    if any(group.offsets[name] for name in topics):
        draft.warn("Consumers of the group start over, where auto.offset.reset says.")
    old = tuple(
        OffsetAt(name, part, offset.value)
        for name in topics
        for part, offset in sorted(group.offsets[name].items())
        if isinstance(offset.value, int)
    )
    inverse = ResetOffsets(intent.group, old) if old else None
    return draft.close(Effect(topics=len(topics), partitions=len(old)), inverse)


def inactive(name: str, draft: Draft) -> Group | None:
    """The group, if there is one and it has no members."""
    group = draft.state.groups.get(name)
    ids = f"{paths.group(name)}/ids/"
    members = {path.removeprefix(ids) for path in draft.ground.tree if path.startswith(ids)}
    if group is None:
        draft.refuse(f"There is no group {quote(name)} in ZooKeeper; groups of newer consumers are in Kafka.")
        return None
    if members := members.union(group.members):
        draft.refuse(
            f"Group {quote(name)} has {len(members)} live member{'s' * (len(members) != 1)}: "
            "stop its consumers first."
        )
        return None
    return group


def guard(draft: Draft, name: str) -> list[Write]:
    """Two operations that change nothing and fail where a consumer has joined since."""
    path = f"{paths.group(name)}/ids"
    znode = draft.read(path)
    if znode is None:
        made = create(path, None)
        return [made, Write(path, Operation.DELETE, 0)]
    return [remove(path, znode), create(path, znode.data)]


def _all(draft: Draft, root: str) -> list[Write]:
    """The ids first: where a consumer has joined, nothing at all is deleted."""
    removed = removals(draft, root)
    ids = [write for write in removed if write.path == f"{root}/ids"]
    return ids + [write for write in removed if write not in ids]


def _topic(draft: Draft, root: str, topic: str) -> list[Write]:
    removed = [w for what in ("owners", "offsets") for w in removals(draft, f"{root}/{what}/{topic}")]
    if not removed:
        draft.refuse(f"The group keeps nothing about {quote(topic)} in ZooKeeper.")
    return [*guard(draft, root.removeprefix(paths.CONSUMERS + "/")), *removed]


KIND = ActionKind(
    DeleteGroup,
    "Delete a group",
    plan,
    needs=lambda intent: needs(intent.group),
    confirm=lambda intent: intent.group if intent.topic is None else None,
    needs_controller=False,
)
