"""Offsets asked for once and now: where a log starts and ends, or where it stood at a moment.

For a form that shall write them. Source: kafka.server.KafkaApis.handleListOffsetRequest; KIP-79 (version 1,
0.10.1+).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import msgspec

from zkdash.broker import leaders_asked, questions
from zkdash.broker.leaders_asked import Reason
from zkdash.broker.link import Link
from zkdash.broker.questions import EARLIEST, LATEST, Partition
from zkdash.broker.resolver import Lookup, addresses
from zkdash.broker.rounds import Leaders
from zkdash.configuration.brokers import IN_THE_CLEAR, Security
from zkdash.kafka.values import Broker

__all__ = ["EARLIEST", "LATEST", "Absent", "At", "Found", "Reason", "ask"]

# Registration version 4 came with 0.10.2; version 3 is that of 0.10.0 too, which knows no message's time.
_KNOWS_TIMES = 4


class At(msgspec.Struct, frozen=True, gc=False):
    """The offset that was asked for.

    `is_exact` is False where the broker knows the times of segments only (asked with version 0: brokers to
    0.10.1): it is then the first offset of the last segment that was complete at the moment, so that
    messages from before it follow, up to a segment's length and more.
    """

    offset: int
    is_exact: bool = True


class Absent(msgspec.Struct, frozen=True, gc=False):
    """The log has no such offset. `nearest` is the end to take instead: EARLIEST or LATEST."""

    sentence: str
    nearest: int


Found: TypeAlias = At | Absent | Reason


def ask(
    brokers: Mapping[int, Broker],
    leaders: Leaders,
    partitions: Collection[Partition],
    at: int,
    *,
    limit_s: float = 5.0,
    lookup: Lookup = addresses,
    security: Security = IN_THE_CLEAR,
) -> Mapping[Partition, Found]:
    """Ask the leaders, as `leaders_asked.ask` does, for an offset of each (topic, partition).

    `at` is EARLIEST, LATEST, or an epoch millisecond: then it is that of the first message which is as late
    (its CreateTime or LogAppendTime, as the topic is configured).
    """

    async def batch(link: Link, broker: Broker, wanted: Sequence[Partition]) -> Mapping[Partition, Found]:
        version = 1 if (broker.version or 0) >= _KNOWS_TIMES else 0
        answer = await link.ask(questions.log_offsets(wanted, at, version))
        offsets = questions.read_offsets_at(answer, wanted, version)
        return {partition: _worded(offset, at, version) for partition, offset in offsets.items()}

    return leaders_asked.ask(
        brokers, leaders, partitions, batch, limit_s=limit_s, lookup=lookup, security=security
    )


def _worded(answered: int | str | None, at: int, version: int) -> Found:
    if answered is None and version:
        return Absent("the log holds no message as late as that", LATEST)
    if answered is None:
        return Absent("no segment of the log was complete by then", EARLIEST)
    if isinstance(answered, str):
        return Reason(answered)
    return At(answered, is_exact=bool(version) or at in (EARLIEST, LATEST))
