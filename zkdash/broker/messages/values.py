"""What a look asks for, and what it finds: frozen values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec


class Last(msgspec.Struct, frozen=True):
    """The last messages of the log."""


class From(msgspec.Struct, frozen=True):
    """Messages from this offset on."""

    offset: int


class Before(msgspec.Struct, frozen=True):
    """The last messages before this offset."""

    offset: int


class At(msgspec.Struct, frozen=True):
    """Messages from the first on that is as late as this epoch millisecond."""

    time_ms: int


Place: TypeAlias = Last | From | Before | At


class Bounds(msgspec.Struct, frozen=True):
    """How much a look may take: messages, bytes as brokers send them, seconds."""

    messages: int
    read_bytes: int
    seconds: float


class Data(msgspec.Struct, frozen=True):
    """A key, a value or a header's value: how many bytes it has, and those of its first that were kept."""

    size: int
    kept: bytes = b""


class Batch(msgspec.Struct, frozen=True):
    """What the messages of one entry of the log share. Of messages before v2 what only v2 has is −1 or False.

    `size` is in bytes, as the broker keeps it; `magic` the message format; `codec` its compression.
    """

    base_offset: int
    last_offset: int
    size: int
    magic: int
    codec: str
    records: int
    leader_epoch: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False
    is_control: bool = False


class Message(msgspec.Struct, frozen=True):
    """One message. `timestamp` is epoch milliseconds, None where there is none (before v1); `clock` is
    whose it is: "CreateTime", "LogAppendTime", "" for none.

    `fate` is "committed", "aborted" or "open" of what belongs to a transaction, else ""; `marker` what a
    transaction marker says, "commit" or "abort". A `value` of None is a tombstone.
    """

    offset: int
    timestamp: int | None
    clock: str
    key: Data | None
    value: Data | None
    headers: tuple[tuple[str, Data | None], ...]
    batch: Batch
    fate: str = ""
    marker: str = ""


class Look(msgspec.Struct, frozen=True):
    """What was found between two offsets: `begins`, and `ends`, which is not among them.

    `start` and `end` are those of the log when it was asked. `seen` counts the messages that were read, of
    which `messages` are those that passed the filter. `read_bytes` came from the broker. `notes` are
    sentences: what could not be read, and why there is less than was asked for.
    """

    start: int
    end: int
    begins: int
    ends: int
    messages: tuple[Message, ...]
    seen: int
    read_bytes: int
    notes: tuple[str, ...] = ()


# Whether a message passes: by its key, its value and its headers.
Passes = Callable[[bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]], bool]
