"""The grammar of consumer ids and of consumer thread ids, 0.7 to 1.1.

Source: kafka.consumer.ZookeeperConsumerConnector, `<group>_<host>-<epoch ms>-<first 8 hex digits of a
random UUID>` unless the option consumer.id says otherwise; a thread is `<consumer id>-<number>`. Group and
host may hold `_` and `-`, so both are read from the right. Document 000 says `hostname:uuid`: no release
writes that.
"""

from __future__ import annotations

import functools
import re

import msgspec

_MADE = re.compile(r"(.+)-([0-9]{1,19})-([0-9a-f]{8})", re.DOTALL)
_THREAD = re.compile(r"(.+)-([0-9]{1,10})", re.DOTALL)


class ConsumerId(msgspec.Struct, frozen=True):
    """A consumer id taken apart. `started` is epoch milliseconds by the consumer's own clock.

    Parts that the id does not tell are None, and `reason` says why. `custom` is what the operator set as
    consumer.id, None where Kafka made the id.
    """

    text: str
    host: str | None = None
    started: int | None = None
    suffix: str | None = None
    custom: str | None = None
    reason: str | None = None


class ThreadId(msgspec.Struct, frozen=True):
    """A consumer thread id taken apart; both parts are None together, and `reason` says why."""

    text: str
    consumer: str | None = None
    number: int | None = None
    reason: str | None = None


def parse_consumer(text: str, group: str) -> ConsumerId:
    """Take apart a consumer id found below /consumers/<group>/ids."""
    prefix = f"{group}_"
    if not text.startswith(prefix) or text == prefix:
        return ConsumerId(text, reason=f"does not begin with its group's name and an underscore ({prefix})")
    rest = text.removeprefix(prefix)
    match = _MADE.fullmatch(rest)
    if match is None:
        return ConsumerId(text, custom=rest, reason="set as consumer.id: tells neither host nor start")
    return ConsumerId(text, host=match[1], started=int(match[2]), suffix=match[3])


@functools.lru_cache(maxsize=1024)  # a thread owns several partitions, one after the other
def parse_thread(text: str) -> ThreadId:
    """Take apart what an owner znode holds."""
    match = _THREAD.fullmatch(text)
    if match is None:
        return ThreadId(text, reason="does not end with a hyphen and a thread's number")
    return ThreadId(text, consumer=match[1], number=int(match[2]))


def thread_ids(consumer: str, count: int) -> list[str]:
    """The ids of a consumer's threads for one topic. Source: kafka.consumer.TopicCount."""
    return [f"{consumer}-{number}" for number in range(count)]
