"""An ensemble as pages see it: what its servers told, and what is wrong with that."""

from __future__ import annotations

from typing import Final

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.formats.ensemble.values import Look


class Thresholds(msgspec.Struct, frozen=True):
    """From where on something is said of a server, or of the ensemble.

    `outstanding` requests for `outstanding_s`; `latency_ms` on average; `descriptors_percent` of those that
    the process may open; `pending_syncs_s` with syncs owed; `behind_s` without reaching where another server
    was at the look before; `elections` within `elections_s`; a data size or a count of znodes that moved by
    `jump_percent` within `jump_s`, where it is at least `jump_bytes` or `jump_znodes`; a proposal of
    `buffer_percent` of `buffer_bytes`, ZooKeeper's default of jute.maxbuffer.
    """

    outstanding: int = 10
    outstanding_s: float = 60.0
    latency_ms: float = 50.0
    descriptors_percent: float = 85.0
    pending_syncs_s: float = 60.0
    behind_s: float = 10.0
    elections: int = 3
    elections_s: float = 3600.0
    jump_percent: float = 50.0
    jump_s: float = 3600.0
    jump_bytes: int = 10 * 1024 * 1024
    jump_znodes: int = 10_000
    buffer_percent: float = 80.0
    buffer_bytes: int = 1_048_575


class Ailment(msgspec.Struct, frozen=True):
    """What is not as it should be, in one sentence; `id` is the rule, `server` the one it is about or ""."""

    id: str
    severity: Severity
    sentence: str
    server: str = ""


class Ensemble(msgspec.Struct, frozen=True):
    """One cluster's ensemble: nothing is known before the first look. `ailments` are worst first."""

    look: Look = Look()
    ailments: tuple[Ailment, ...] = ()


UNKNOWN: Final = Ensemble()
