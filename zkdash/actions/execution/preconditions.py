"""Preconditions of a reviewed plan: the cluster is as it was, and no other request is in the way.

A plan's writes compare versions. Those that an earlier step of the same plan wrote are followed here, so that
our own change does not count as somebody else's; every other one does.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import goals
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Assigned, Written
from zkdash.cluster.plans.intents import Intent, Reassign
from zkdash.cluster.plans.values import Edit, Ground, Step, Write
from zkdash.cluster.reducer import advance
from zkdash.kafka import paths
from zkdash.kafka.documents.document import few
from zkdash.kafka.payloads import editing
from zkdash.zk.reader.one_shot import OneShotReader
from zkdash.zk.writing.outcomes import Op
from zkdash.znode import Batch, Operation, Unreadable, Znode

# The version that our own earlier steps left at a path, None where they left nothing there.
Own = Mapping[str, int | None]

_TRIGGERS = {
    paths.REASSIGNMENT: "a reassignment",
    paths.ELECTION: "an election of preferred leaders",
}


class Found(msgspec.Struct, frozen=True):
    """What was read before a step: the znodes by path, and the state that they make, whole or not."""

    tree: Mapping[str, Znode | Unreadable]
    state: ClusterState


def look(asker: OneShotReader, steps: Sequence[Step]) -> Found:
    """Read what these steps touch and depend on. Raises OneShotError."""
    wanted = [write.path for step in steps for write in step.writes if not write.sequential]
    ours = (paths.CONTROLLER, paths.CONTROLLER_EPOCH, paths.MIGRATION, *_TRIGGERS)
    moves = any(write.path == paths.REASSIGNMENT for step in steps for write in step.writes)
    below = (paths.BROKER_IDS, paths.TOPICS) if moves else (paths.BROKER_IDS,)
    tree = asker.read((*ours, *wanted), children=below)
    state, _ = advance.advance(ClusterState(), Batch(changed=tree, zxid=0, whole=True))
    return Found(tree, state)


def after(step: Step, own: Own) -> Own:
    """What is ours once a step is done. What its goal is about has been changed by Kafka since."""
    left = dict(own)
    for write in step.writes:
        _apply(write, left)
    if not isinstance(step.goal, Written):
        for path in goals.paths(step.goal):
            left.pop(path, None)
    return left


def operations(step: Step, own: Own) -> list[Op]:
    """The step's writes for the writer, with the versions that must be found now."""
    left, ops = dict(own), []
    for write in step.writes:
        ops.append(
            Op(
                write.operation,
                write.path,
                write.after,
                None if write.operation is Operation.CREATE else _expected(write, left),
                write.sequential,
                None if write.edit is None else functools.partial(_merged, write.edit),
            )
        )
        _apply(write, left)
    return ops


def differences(steps: Iterable[Step], own: Own, ground: Found) -> list[str]:
    """What has changed since the review, a sentence each.

    What these steps themselves, or Kafka in between, will have made of a path cannot be looked at yet.
    """
    sentences, later = [], set[str]()
    for step in steps:
        for write in step.writes:
            if not write.sequential and write.path not in later:
                sentences.append(_difference(write, own, ground.tree))
            if write.operation is not Operation.CHECK:
                later.add(write.path)
        if not isinstance(step.goal, Written):
            later.update(goals.paths(step.goal))
    return [sentence for sentence in dict.fromkeys(sentences) if sentence]


def needs_freedom(step: Step) -> bool:
    """Whether a step makes a request of which the controller takes only one at a time."""
    return bool(_requests(step))


def obstacle(intent: Intent, steps: Sequence[Step], ground: Found) -> str:
    """Which work of somebody else's the first of these steps has to wait for; empty where there is none.

    A controller takes one request at a time: a second is ignored, lost, or jams it.
    """
    wanted = _requests(steps[0])
    if not wanted:
        return ""
    for path, work in _TRIGGERS.items():
        if path in ground.tree:
            return f"Waits for {work} that zkdash did not start ({path} is there)."
    moving = [name for name, topic in sorted(ground.state.topics.items()) if topic.moving]
    if moving and paths.REASSIGNMENT in wanted and not (isinstance(intent, Reassign) and intent.supersede):
        return f"Waits for a reassignment that zkdash did not start: partitions move of {_list(moving)}."
    return ""


def refusal(intent: Intent, steps: Sequence[Step], ground: Found) -> str:
    """Why nothing may be written though no version tells it: KRaft has taken over, or a target is gone."""
    draft = Draft(intent, Ground(ground.state, ground.tree), "")
    draft.require_loaded()
    for step in steps:
        if isinstance(step.goal, Assigned) and not draft.refusals:
            targets = {broker for move in step.goal.moves for broker in move.replicas}
            if gone := sorted(targets.difference(ground.state.brokers)):
                draft.refuse(
                    f"Broker {gone[0]} is no longer registered; a move to it would wait for it for ever."
                )
    return " ".join(draft.refusals)


def _requests(step: Step) -> set[str]:
    """The requests to the controller that a step creates; not those that it replaces."""
    first = {write.path: write for write in reversed(step.writes)}
    return {path for path in _TRIGGERS if path in first and first[path].operation is Operation.CREATE}


def _apply(write: Write, left: dict[str, int | None]) -> None:
    if write.sequential or write.operation is Operation.CHECK:
        return
    if write.operation is Operation.SET:
        left[write.path] = (_expected(write, left) or 0) + 1
    else:
        left[write.path] = 0 if write.operation is Operation.CREATE else None


def _expected(write: Write, left: Own) -> int | None:
    return left.get(write.path, write.expected)


def _difference(write: Write, own: Own, tree: Mapping[str, Znode | Unreadable]) -> str:
    """One sentence: path, version reviewed, version found. Empty where all is as it was."""
    path, znode, expected = write.path, tree.get(write.path), _expected(write, own)
    is_ours = path in own
    if isinstance(znode, Unreadable) or (znode is None and expected is None):
        return ""
    if znode is None:
        return f"{path} is gone; {_reviewed(expected, is_ours=is_ours)}."
    if expected is None:
        was = "our own earlier step removed it" if is_ours else "it was absent when it was reviewed"
        return f"{path} is there with version {znode.version}; {was}."
    if znode.version != expected:
        return f"{path} has version {znode.version}; {_reviewed(expected, is_ours=is_ours)}."
    compares = write.operation in {Operation.SET, Operation.DELETE} and not is_ours
    if compares and (znode.data or None) != (write.before or None):
        return f"{path} was deleted and made again, with other data and the same version {expected}."
    return ""


def _reviewed(version: int | None, *, is_ours: bool) -> str:
    return f"our own earlier step left version {version}" if is_ours else f"version {version} was reviewed"


def _merged(edit: Edit, now: bytes | None) -> bytes:
    return editing.merge_config(now, edit.put, edit.drop)


def _list(names: Sequence[str]) -> str:
    return ", ".join(few(names))
