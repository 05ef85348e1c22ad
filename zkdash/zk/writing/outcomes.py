"""The writer's operations and their outcomes, as values, with the sentences for each."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from kazoo import exceptions
from kazoo.protocol.states import ZnodeStat

from zkdash.znode import Operation


class UnreachedError(Exception):
    """Nothing was sent: ZooKeeper can't be reached, or refuses us. The message is one sentence."""


class Op(NamedTuple):
    """One write of a multi. `version` must be found (SET, DELETE, CHECK; None is any), nothing by CREATE.

    `edit` makes the data out of what is there (None where nothing is), and may raise ValueError.
    """

    operation: Operation
    path: str
    data: bytes | None = None
    version: int | None = None
    sequential: bool = False
    edit: Callable[[bytes | None], bytes] | None = None


class Fault(enum.Enum):
    """Why ZooKeeper refused an operation, and with it the whole multi."""

    ABSENT = "absent"
    EXISTS = "exists"
    VERSION = "version"
    NOT_EMPTY = "not empty"
    NO_AUTH = "no auth"
    OTHER = "other"


class Committed(NamedTuple):
    """Applied, by this transaction (None where nobody can tell which)."""

    zxid: int | None


class Refused(NamedTuple):
    """Not applied, because of the operation numbered `at`."""

    at: int
    fault: Fault
    sentence: str


class Fenced(NamedTuple):
    """Not applied: somebody else has taken the fence."""


class Unknown(NamedTuple):
    """Sent and not answered: it may be applied, or may yet be."""

    reason: str


Outcome: TypeAlias = Committed | Refused | Fenced | Unknown

_FAULTS = {
    exceptions.NoNodeError: (Fault.ABSENT, "is no longer there"),
    exceptions.NodeExistsError: (Fault.EXISTS, "is there already"),
    exceptions.BadVersionError: (Fault.VERSION, "was changed by somebody else meanwhile"),
    exceptions.NotEmptyError: (Fault.NOT_EMPTY, "has got children"),
    exceptions.NoAuthError: (
        Fault.NO_AUTH,
        "may not be written by this session (its ACL, or the ACL above it)",
    ),
}


def fault(error: type[Exception]) -> Fault:
    row = _FAULTS.get(error)
    return row[0] if row else Fault.OTHER


def sentence(op: Op, error: type[Exception]) -> str:
    row = _FAULTS.get(error)
    if row is None:
        return f"ZooKeeper refused to {op.operation.value} {op.path} ({error.__name__})."
    if row[0] is Fault.ABSENT and op.operation is Operation.CREATE:
        return f"{op.path} cannot be created: there is no znode above it."
    return f"{op.path} {row[1]}."


def first_fault(answers: Sequence[Any]) -> tuple[int, type[Exception]] | None:
    """The operation that made a multi fail: ZooKeeper says of those before it that they were rolled back."""
    for index, answer in enumerate(answers):
        if isinstance(answer, Exception) and not isinstance(answer, exceptions.RolledBackError):
            return index, type(answer)
    return None


def transaction(answers: Sequence[Any]) -> int | None:
    """The zxid of a multi that was applied, which only a set answers with."""
    return next((int(answer.mzxid) for answer in answers if isinstance(answer, ZnodeStat)), None)
