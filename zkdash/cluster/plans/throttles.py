"""Throttles of a reassignment (0.10.1+): set before it, removed after it, all else in the configs kept.

A topic's config names which replicas are throttled, /config/brokers/B at which rate. The latter may hold
secrets: it is edited by whoever executes, and shown masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Written
from zkdash.cluster.plans.multis import in_multis
from zkdash.cluster.plans.values import Edit, Needs, Write, create, replace
from zkdash.kafka import paths, secrets
from zkdash.kafka.configs import topic_options
from zkdash.kafka.documents.document import quote
from zkdash.kafka.payloads import config_notifications, editing
from zkdash.kafka.payloads.config_notifications import Form
from zkdash.kafka.values import Move
from zkdash.znode import Operation, Znode

BROKER_CONFIGS = paths.BROKER_CONFIGS
NEEDS = Needs(paths=(config_notifications.CHANGES,), subtrees=(BROKER_CONFIGS,))


def begin(draft: Draft, moves: Sequence[Move], rate: int) -> None:
    """Throttle these moves to `rate` bytes per second on each broker involved."""
    if not _understood(draft):
        return
    if rate < 1:
        draft.refuse("A throttle must let at least one byte a second pass.")
    by_topic: dict[str, list[Move]] = {}
    for move in moves:
        by_topic.setdefault(move.topic, []).append(move)
    writes: list[Write] = []
    for topic, its in by_topic.items():
        existing = draft.state.topics[topic].config_znode
        if existing and _has(existing, topic_options.THROTTLES):
            draft.refuse(f"{quote(topic)} is throttled already: clear the old throttle first.")
        writes += _topic_write(draft, topic, existing, _throttled(draft, its), ())
    _steps(draft, "Name the replicas that are throttled", writes)
    edit = Edit(put=dict.fromkeys(topic_options.BROKER_THROTTLES, str(rate)))
    writes = []
    for broker in _brokers(draft, moves):
        existing = draft.read(f"{BROKER_CONFIGS}/{broker}")
        if existing and _has(existing, topic_options.BROKER_THROTTLES):
            draft.refuse(f"Broker {broker} is throttled already: clear the old throttle first.")
        writes += _broker_write(broker, existing, edit, draft)
    if draft.read(BROKER_CONFIGS) is None:  # 0.10.2.2 does not make it, 1.1.1 does
        writes.insert(0, create(BROKER_CONFIGS, None, "nothing: it stays, empty"))
    _steps(draft, f"Throttle brokers to {rate} bytes/s", writes)


def end(draft: Draft) -> None:
    """Remove what `begin` wrote: its own versions are known, so that a change in between is noticed."""
    if draft.refusals:
        return
    topics: list[Write] = []
    brokers: list[Write] = []
    for begun in [write for step in draft.steps for write in step.writes]:
        path, name = begun.path, begun.path.rpartition("/")[2]
        version = 0 if begun.expected is None else begun.expected + 1
        if begun.edit is not None:
            edit = Edit(drop=topic_options.BROKER_THROTTLES)
            after = secrets.redact(path, editing.merge_config(begun.after, {}, edit.drop))
            write = Write(path, Operation.SET, version, begun.after, after, edit=edit)
            brokers += [write, _told_broker(name)]
        elif path.startswith(paths.TOPIC_CONFIGS):
            data = editing.merge_config(begun.after, {}, topic_options.THROTTLES)
            topics += [Write(path, Operation.SET, version, begun.after, data), _told(draft, name)]
    _steps(draft, "Name no replicas as throttled any more", topics)
    _steps(draft, "Remove the throttle of brokers", brokers)


def clear(draft: Draft) -> tuple[int, int]:
    """Remove all throttles that there are; how many topics and brokers have one."""
    topics = [
        name
        for name, topic in sorted(draft.state.topics.items())
        if _has(topic.config_znode, topic_options.THROTTLES)
    ]
    brokers = [
        path
        for path in draft.ground.below(BROKER_CONFIGS)
        if _has_broker(draft, path) and path != BROKER_CONFIGS
    ]
    if (topics or brokers) and not _understood(draft):
        return len(topics), len(brokers)
    writes: list[Write] = []
    for topic in topics:
        writes += _topic_write(
            draft, topic, draft.state.topics[topic].config_znode, {}, topic_options.THROTTLES
        )
    _steps(draft, "Name no replicas as throttled any more", writes)
    writes = []
    for path in brokers:
        name, edit = path.removeprefix(BROKER_CONFIGS + "/"), Edit(drop=topic_options.BROKER_THROTTLES)
        writes += _broker_write(name, draft.read(path), edit, draft)
    _steps(draft, "Remove the throttle of brokers", writes)
    return len(topics), len(brokers)


def _steps(draft: Draft, title: str, writes: list[Write]) -> None:
    """Each value stands before its notification, within a multi or in the one before."""
    for portion in in_multis(writes):
        draft.step(title, portion, Written())


def _understood(draft: Draft) -> bool:
    if draft.era.entities is None or draft.era.topics is None:
        unclear = draft.era.unclear or "brokers before 0.10.2 register as version 3 or less"
        draft.refuse(f"Not every broker of this cluster is known to read a throttle: {unclear}.")
    elif draft.read(config_notifications.CHANGES) is None:
        draft.refuse(f"{config_notifications.CHANGES} is absent: no broker would hear of a throttle.")
    return not draft.refusals


def _throttled(draft: Draft, moves: Iterable[Move]) -> dict[str, str]:
    """`partition:broker` lists as kafka.admin.ReassignPartitionsCommand writes them."""
    leaders, followers = [], []
    for move in moves:
        now = draft.replicas(move.topic, move.partition)
        leaders += [f"{move.partition}:{broker}" for broker in now]
        followers += [f"{move.partition}:{broker}" for broker in move.replicas if broker not in now]
    return dict(zip(topic_options.THROTTLES, (",".join(leaders), ",".join(followers)), strict=True))


def _brokers(draft: Draft, moves: Iterable[Move]) -> list[int]:
    """Those that send or receive, as far as they live."""
    involved = {broker for move in moves for broker in move.replicas}
    for move in moves:
        involved.update(draft.replicas(move.topic, move.partition))
    return sorted(involved & draft.live())


def _topic_write(
    draft: Draft, topic: str, existing: Znode | None, put: dict[str, str], drop: tuple[str, ...]
) -> list[Write]:
    """The value, then its notification."""
    path = paths.topic_config(topic)
    try:
        after = editing.merge_config(existing and existing.data, put, drop)
    except editing.Uneditable as fault:
        draft.refuse(f"{path} cannot be edited: {fault}.")
        return []
    if len(after) > draft.ground.largest:
        draft.refuse(f"{path} would hold {len(after)} bytes; {draft.ground.largest} are the most.")
    undo = "the data as before, and another notification"
    value = replace(path, existing, after, undo) if existing else create(path, after, undo)
    return [value, _told(draft, topic)]


def _broker_write(broker: object, existing: Znode | None, edit: Edit, draft: Draft) -> list[Write]:
    """The value by an edit (what is shown is masked), then its notification."""
    path = f"{BROKER_CONFIGS}/{broker}"
    shown = secrets.redact(path, existing.data) if existing else None
    try:
        after = secrets.redact(path, editing.merge_config(shown, edit.put, edit.drop))
    except editing.Uneditable as fault:
        draft.refuse(f"{path} cannot be edited: {fault}.")
        return []
    operation = Operation.CREATE if existing is None else Operation.SET
    version = None if existing is None else existing.version
    write = Write(path, operation, version, shown, after, edit=edit, undo="the edit reversed")
    return [write, _told_broker(broker)]


def _told(draft: Draft, topic: str) -> Write:
    data = config_notifications.of_topic(topic, draft.era.topics or Form.TYPE)
    return Write(config_notifications.PREFIX, Operation.CREATE, after=data, sequential=True)


def _told_broker(broker: object) -> Write:
    data = config_notifications.of_entity(f"brokers/{broker}")
    return Write(config_notifications.PREFIX, Operation.CREATE, after=data, sequential=True)


def _has_broker(draft: Draft, path: str) -> bool:
    znode = draft.ground.tree.get(path)
    return isinstance(znode, Znode) and _has(znode, topic_options.BROKER_THROTTLES)


def _has(znode: Znode | None, names: Iterable[str]) -> bool:
    """Whether a configuration holds one of these keys; what cannot be read holds none."""
    try:
        config = editing.read(znode.data, (1,)).get("config") if znode and znode.data else None
    except editing.Uneditable:
        return False
    return isinstance(config, dict) and any(name in config for name in names)
