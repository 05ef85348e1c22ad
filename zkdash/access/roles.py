"""Roles and what each may do: a ladder, so that a role holds every right of those before it.

Beside it stands what no role brings: the right to look at messages, which a grant gives in so many words.
"""

from __future__ import annotations

import enum


class Right(enum.Enum):
    """What can be asked for on a cluster."""

    SEE = "see"  # pages, sockets, JSON, CSV; also of the queue and its audit
    ACT = "act"  # propose, queue, stop and pause actions; plan without writing
    APPROVE = "approve"  # release what somebody else queued on a cluster that asks for it
    ADMINISTER = "administer"  # grant roles
    MESSAGES = "messages"  # look at what producers wrote; no role brings it


class Role(enum.Enum):
    """What somebody is on a cluster, weakest first."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"
    ADMIN = "admin"

    @property
    def rights(self) -> frozenset[Right]:
        """What the role may do."""
        return _RIGHTS[self]

    @property
    def rank(self) -> int:
        """The higher the more may be done."""
        return list(Role).index(self)


_LADDER = (Right.SEE, Right.ACT, Right.APPROVE, Right.ADMINISTER)
_RIGHTS = {role: frozenset(_LADDER[: rank + 1]) for rank, role in enumerate(Role)}
