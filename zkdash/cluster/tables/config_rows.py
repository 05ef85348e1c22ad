"""The Configuration table: every entity that has settings of its own, filtered, sorted and cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables import filters
from zkdash.cluster.tables.query import DEFAULT_ORDER, Keys, Query, Selection, choose
from zkdash.kafka import paths
from zkdash.kafka.configs import entity_names
from zkdash.kafka.configs.entity_names import Entity
from zkdash.kafka.values import EntityConfig, TopicConfig, Unparsable
from zkdash.znode import Unreadable, Znode

Settings = Mapping[str, str] | Unparsable | Unreadable


class ConfigRow(msgspec.Struct, frozen=True):
    """One entity. `noun` and `name` are those of `entity_names`; `key` is the topic's or broker's own name
    where it has a page, "" otherwise.

    Of `settings` the values that may be secret are `secrets.HIDDEN`. `changed` is the mtime in epoch
    milliseconds, None where the znode may not be read.
    """

    status: Severity
    words: str
    noun: str
    name: str
    key: str
    settings: Settings
    changed: int | None
    path: str


class Setting(msgspec.Struct, frozen=True):
    """One setting of a broker: `everywhere` where it holds for every broker that does not say otherwise."""

    name: str
    value: str
    everywhere: bool


def select(state: ClusterState, query: Query, keys: Keys[ConfigRow] = DEFAULT_ORDER) -> Selection[ConfigRow]:
    """The Configuration page: what is wrong first, then by type and name, unless asked otherwise by one of
    `keys`.

    The words of a filter are looked for in type, name, path, and in the names and values of settings.
    """
    wanted = filters.parse(query.q, state)
    every = [*_topics(state), *_others(state)]
    admitted = [row for row in every if wanted.admits(_text(row), row.status, _brokers(row))]
    admitted.sort(key=lambda row: (row.status.rank, row.noun, row.name))
    return choose(admitted, query, keys, lambda row: row.status, total=len(every))


def of_broker(state: ClusterState, number: int) -> tuple[tuple[Setting, ...], tuple[str, ...]]:
    """The dynamic settings that hold for a broker, and what of them could not be read, as sentences.

    Its own come before those of every broker that they override.
    """
    settings: dict[str, Setting] = {}
    doubts = [
        f"{path} is not readable: {refused.reason}"
        for path, refused in state.refused.items()
        if path in ("/config", paths.BROKER_CONFIGS)
    ]
    for name, everywhere in ((str(number), False), (paths.DEFAULT, True)):
        seen = state.configs.get(f"brokers/{name}")
        if seen is None:
            continue
        if isinstance(seen.value, EntityConfig):
            for key, value in sorted(seen.value.config.items()):
                settings.setdefault(key, Setting(key, value, everywhere))
        else:
            word = "not readable" if isinstance(seen.value, Unreadable) else "not to be understood"
            doubts.append(f"{paths.BROKER_CONFIGS}/{name} is {word}: {seen.value.reason}")
    return tuple(settings[key] for key in sorted(settings)), tuple(doubts)


def _topics(state: ClusterState) -> Iterator[ConfigRow]:
    for topics, orphan in ((state.topics, False), (state.remnants, True)):
        for topic in topics.values():
            if topic.config is None:
                continue
            entity, path = Entity(entity_names.TOPIC, topic.name), paths.topic_config(topic.name)
            settings = topic.config.config if isinstance(topic.config, TopicConfig) else topic.config
            yield from _row(entity, topic.name, settings, topic.config_znode, path, orphan=orphan)


def _others(state: ClusterState) -> Iterator[ConfigRow]:
    for below, seen in state.configs.items():
        entity, number = entity_names.of(below), below.removeprefix("brokers/")
        settings = seen.value.config if isinstance(seen.value, EntityConfig) else seen.value
        key = number if entity.noun == entity_names.BROKER and paths.is_id(number) else ""
        yield from _row(entity, key, settings, seen.znode, f"/config/{below}")


def _row(
    entity: Entity, key: str, settings: Settings, znode: Znode | None, path: str, *, orphan: bool = False
) -> Iterable[ConfigRow]:
    """The row; none where the znode holds no setting, as one that only has others below it."""
    if isinstance(settings, Unreadable):
        status, words = Severity.UNKNOWN, "not readable"
    elif isinstance(settings, Unparsable):
        status, words = Severity.WARNING, "unparsable"
    elif not settings:
        return
    else:
        status, words = (Severity.INFO, "no such topic") if orphan else (Severity.OK, "ok")
    changed = None if znode is None else znode.mtime
    yield ConfigRow(status, words, *entity, "" if orphan else key, settings, changed, path)


def _text(row: ConfigRow) -> str:
    pieces = [row.noun, row.name, row.path]
    if not isinstance(row.settings, Unparsable | Unreadable):
        pieces += (f"{name}={value}" for name, value in row.settings.items())
    return "\n".join(pieces).casefold()


def _brokers(row: ConfigRow) -> frozenset[int]:
    return frozenset({int(row.key)} if row.noun == entity_names.BROKER and row.key else ())
