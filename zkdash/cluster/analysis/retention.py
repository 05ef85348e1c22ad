"""Which segments of a partition's log its broker deletes next, why, and when.

Source: kafka.log.UnifiedLog.deleteOldSegments: from the oldest on, first what lies before the log's start,
then what exceeds `retention.bytes`, then what is older than `retention.ms`. A segment is as old as its newest
message. Each of them ends at the first segment that stays. The broker looks every five minutes
(`log.retention.check.interval.ms`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.kafka import paths
from zkdash.kafka.configs.topic_option_defaults import DEFAULTS
from zkdash.kafka.values import EntityConfig, TopicConfig

POLICY, MS, BYTES = "cleanup.policy", "retention.ms", "retention.bytes"
BEFORE_START: Final = "log start"
_REMOTE: Final = "remote.storage.enable"
ASSUMED: Final = "assumed, as Kafka's default: server.properties is not in ZooKeeper"


class Setting(msgspec.Struct, frozen=True):
    """The value of an option, and where it stands."""

    name: str
    value: str
    where: str


class Rules(msgspec.Struct, frozen=True):
    """What a topic's logs are kept by on a broker. −1 is without limit; `doubt` says why it is not known."""

    settings: tuple[Setting, ...]
    deletes: bool
    ms: int
    bytes: int
    doubt: str = ""


class Extent(msgspec.Struct, frozen=True):
    """A segment: its first offset, its bytes, its newest timestamp, else when it was changed (epoch ms); None
    where nobody read it, so that its time and that of what follows it is not told."""

    base_offset: int
    size: int
    newest_ms: int | None


class Deletion(msgspec.Struct, frozen=True):
    """Why a segment goes, and when (epoch ms); at_ms is None for the next time the broker looks.

    why: the option that its log exceeds, or BEFORE_START.
    """

    base_offset: int
    why: str
    at_ms: int | None = None


def rules(state: ClusterState, topic_name: str, broker: int | None) -> Rules:
    """The rules of a topic's logs on a broker, None for one whose id is not known."""
    topic = state.topics.get(topic_name)
    config = topic.config if topic is not None else None
    if config is not None and not isinstance(config, TopicConfig):
        return Rules((), deletes=False, ms=-1, bytes=-1, doubt=f"the topic's configuration: {config.reason}")
    own: Mapping[str, str] = config.config if config is not None else {}
    settings = {name: _setting(state, name, own, broker) for name in (POLICY, MS, BYTES)}
    doubt = ""
    if own.get(_REMOTE, "").lower() == "true":
        doubt = f"{_REMOTE} is true: what stays on the broker follows local.retention.ms and .bytes"
    numbers = [_number(settings[name].value) for name in (MS, BYTES)]
    for name, number in zip((MS, BYTES), numbers, strict=True):
        doubt = doubt or ("" if number is not None else f"{name} is no number: {settings[name].value!r}")
    ms, size = (-1 if number is None else number for number in numbers)
    deletes = "delete" in settings[POLICY].value.replace(" ", "").split(",")
    return Rules(tuple(settings.values()), deletes, ms, size, doubt)


def deletions(
    segments: Sequence[Extent], by: Rules, *, start: int, high_watermark: int | None = None
) -> list[Deletion]:
    """What goes of a log, the oldest first, with all that has a time; `segments` are in their order.

    start: the log's start offset. high_watermark: what is not yet on all replicas in sync stays.
    """
    gone: list[Deletion] = []
    deletes = by.deletes and not by.doubt
    left = sum(each.size for each in segments) - by.bytes
    is_over, at_ms = deletes and by.bytes >= 0, 0
    for number, each in enumerate(segments):
        following = segments[number + 1].base_offset if number + 1 < len(segments) else None
        if following is None and not each.size:
            break  # the last one stays where it is empty
        if high_watermark is not None and following is not None and high_watermark < following:
            break
        if following is not None and following <= start:
            gone.append(Deletion(each.base_offset, BEFORE_START))
            left -= each.size
            continue
        is_over = is_over and left >= each.size
        if is_over:
            left -= each.size
            gone.append(Deletion(each.base_offset, BYTES))
            continue
        if not deletes or by.ms < 0 or each.newest_ms is None:
            break
        at_ms = max(at_ms, each.newest_ms + by.ms)
        gone.append(Deletion(each.base_offset, MS, at_ms))
    return gone


def _setting(state: ClusterState, name: str, own: Mapping[str, str], broker: int | None) -> Setting:
    if name in own:
        return Setting(name, own[name], "the topic's own")
    places = [(f"brokers/{paths.DEFAULT}", "of all brokers")]
    if broker is not None:
        places.insert(0, (f"brokers/{broker}", f"of broker {broker}"))
    for path, where in places:
        seen = state.configs.get(path)
        config = seen.value.config if seen is not None and isinstance(seen.value, EntityConfig) else {}
        if (value := config.get(f"log.{name}")) is not None:
            return Setting(name, value, where)
    return Setting(name, DEFAULTS[name], ASSUMED)


def _number(value: str) -> int | None:
    return int(value) if value.lstrip("-").isdecimal() and value.isascii() and len(value) < 21 else None
