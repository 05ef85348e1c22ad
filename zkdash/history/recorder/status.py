"""How a cluster's recorder goes, for pages: of this process as it is, of another as it last wrote down."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

import msgspec

from zkdash.history.places import location
from zkdash.history.places.location import Location

SILENT_MS: Final = 3 * 60 * 1000
_NAME: Final = "recorder.json"


class Status(msgspec.Struct, frozen=True):
    """`sentence` says what is wrong, "" while all is well. Times are epoch ms, None for never.

    `rows` were written since the process began, up to transaction `zxid_upto`.
    """

    cluster: str
    pid: int
    seen_ms: int | None = None
    wrote_ms: int | None = None
    rows: int = 0
    zxid_upto: int | None = None
    sentence: str = ""


_DECODER = msgspec.json.Decoder(Status)

_ours: dict[str, Callable[[], Status]] = {}


def enter(cluster: str, ask: Callable[[], Status]) -> None:
    """A recorder of this process can be asked from now on."""
    _ours[cluster] = ask


def leave(cluster: str) -> None:
    _ours.pop(cluster, None)


def keep(directory: Location, status: Status) -> None:
    """Write it down beside the tables, as far as that can be done."""
    beside = location.local(directory)
    draft = beside / f"{_NAME}.draft"
    with contextlib.suppress(OSError):
        draft.write_bytes(msgspec.json.encode(status))
        draft.replace(beside / _NAME)


def read(cluster: str, directory: Location, now_ms: int) -> Status | None:
    """How the recorder of a cluster goes; None where there never was one."""
    ours = _ours[cluster]() if cluster in _ours else None
    if ours is not None and ours.seen_ms is not None:
        return ours
    try:
        status = _DECODER.decode((location.local(directory) / _NAME).read_bytes())
    except (OSError, msgspec.DecodeError):
        return ours
    silent = now_ms - (status.seen_ms or 0) > SILENT_MS
    if silent and not status.sentence:
        return msgspec.structs.replace(status, sentence="nothing records: no process was heard of lately")
    return status
