"""Changing what a topic overrides: merge, write the whole document, then notify, all in one multi."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.cluster.model.topics import Topic
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Written
from zkdash.cluster.plans.intents import ChangeConfig
from zkdash.cluster.plans.values import Effect, Ground, Needs, Plan, Write, create, replace
from zkdash.kafka import paths
from zkdash.kafka.configs import option_units, topic_options
from zkdash.kafka.configs.topic_option_defaults import DEFAULTS
from zkdash.kafka.documents.document import quote
from zkdash.kafka.payloads import config_notifications, editing
from zkdash.kafka.values import TopicConfig, Unparsable
from zkdash.znode import Operation, Unreadable


def plan(intent: ChangeConfig, ground: Ground) -> Plan:
    draft = Draft(intent, ground, intent.topic)
    draft.require_controller()
    topic = ground.state.topics.get(intent.topic)
    if topic is None:
        draft.refuse(f"There is no topic {quote(intent.topic)}.")
        return draft.close()
    _checked(intent, draft, topic)
    now = dict(topic.config.config) if isinstance(topic.config, TopicConfig) else {}
    changed = {name: value for name, value in intent.put.items() if now.get(name) != value}
    dropped = tuple(name for name in intent.drop if name in now)
    if not changed and not dropped:
        draft.refuse("Nothing would change: the topic is configured so already.")
    if not draft.refusals:
        _write(intent.topic, topic, changed, dropped, draft)
        after = {name: value for name, value in now.items() if name not in dropped} | changed
        _warn_of_loss(now, after, draft)
    back = {name: now[name] for name in (*changed, *dropped) if name in now}
    fresh = tuple(name for name in changed if name not in now)
    return draft.close(Effect(topics=1), ChangeConfig(intent.topic, back, fresh))


def _checked(intent: ChangeConfig, draft: Draft, topic: Topic) -> None:
    if isinstance(topic.config, Unparsable | Unreadable):
        draft.refuse(f"{paths.topic_config(intent.topic)} cannot be read: {topic.config.reason}.")
    if topic.deleting:
        draft.refuse(f"{quote(intent.topic)} is being deleted.")
    for name, value in sorted(intent.put.items()):
        if fault := topic_options.fault(name, value):
            draft.refuse(fault)
    for name in sorted(set(intent.put).intersection(intent.drop)):
        draft.refuse(f"{quote(name)} is both set and removed.")
    if unclear := _why_not(draft):
        draft.refuse(unclear)
    elif draft.read(config_notifications.CHANGES) is None:
        draft.refuse(
            f"{config_notifications.CHANGES} is absent (Kafka 0.8.0): no broker would hear of the change."
        )


def _write(name: str, topic: Topic, put: dict[str, str], drop: tuple[str, ...], draft: Draft) -> None:
    path, existing = paths.topic_config(name), topic.config_znode
    try:
        data = editing.merge_config(existing and existing.data, put, drop)
    except editing.Uneditable as fault:
        draft.refuse(f"{path} cannot be edited: {fault}.")
        return
    if len(data) > draft.ground.largest:
        draft.refuse(f"The configuration would hold {len(data)} bytes; {draft.ground.largest} are the most.")
    if draft.era.topics is None:
        return
    undo = "the values as before, and another notification"
    value = replace(path, existing, data, undo) if existing else create(path, data, undo)
    notification = Write(
        config_notifications.PREFIX,
        Operation.CREATE,
        after=config_notifications.of_topic(name, draft.era.topics),
        sequential=True,
    )
    draft.step(f"Change the configuration of {name} and tell the brokers", [value, notification], Written())


def _warn_of_loss(now: Mapping[str, str], after: Mapping[str, str], draft: Draft) -> None:
    """Say what brokers would delete, which no undo brings back."""
    for name in ("retention.ms", "retention.bytes"):
        before, later = _limit(name, now), _limit(name, after)
        if later is not None and (before is None or later < before):
            span = f"from {_worded(name, before, now)} to {_worded(name, later, after)}"
            draft.warn(
                f"{name} goes down {span}: brokers delete the messages beyond it, "
                "and undo does not bring them back."
            )
    if "compact" in _policy(after) and "compact" not in _policy(now):
        draft.warn(
            "Of messages with one key brokers keep the newest alone, and undo does not bring the others back."
        )


def _policy(config: Mapping[str, str]) -> str:
    return config.get("cleanup.policy", DEFAULTS["cleanup.policy"])


def _limit(name: str, config: Mapping[str, str]) -> int | None:
    """The most that is kept, in ms or bytes; None where nothing is deleted for being old or too much."""
    text = config.get(name, DEFAULTS[name])
    if "delete" not in _policy(config) or topic_options.fault(name, text):
        return None
    return None if int(text) < 0 else int(text)


def _worded(name: str, limit: int | None, config: Mapping[str, str]) -> str:
    if limit is None:
        return "no limit"
    words = option_units.words(name, str(limit)) or f"{limit} {name.rpartition('.')[2]}"
    return words if name in config else f"{words} (Kafka’s default, where brokers do not say otherwise)"


def _why_not(draft: Draft) -> str:
    unclear = draft.era.topics is None
    return f"No notification is understood by all brokers: {draft.era.unclear}." if unclear else ""


KIND = ActionKind(
    ChangeConfig,
    "Change a topic’s configuration",
    plan,
    needs=lambda _: Needs(paths=(config_notifications.CHANGES,)),
    why_not=_why_not,
)
