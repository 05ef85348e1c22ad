"""Markers: znodes that prove to any process that a step was applied. Their names, and when they are deleted.

A marker is named after action and step and after a digest of the action's row, because two databases (one
that was replaced, or another installation's) number their actions alike on one ZooKeeper.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from zkdash.actions.models import Action
from zkdash.actions.states import ENDED

KEPT = timedelta(days=7)
_NAME = re.compile(r"([0-9]{1,18})-[0-9]{1,9}-([0-9a-f]{12})")


def name(action: Action, number: int) -> str:
    """The last part of the marker's path."""
    return f"{action.id}-{number}-{_digest(action)}"


def reapable(names: Iterable[str], cluster: str, now: datetime) -> list[str]:
    """Those whose action ended more than seven days ago. Of what is not ours nobody here can tell that."""
    ours: dict[int, list[str]] = {}
    for match in filter(None, map(_NAME.fullmatch, names)):
        ours.setdefault(int(match[1]), []).append(match[0])
    ended = Action.objects.filter(
        id__in=ours, cluster=cluster, state__in=ENDED, ended_at__lt=now - KEPT
    ).only("requested_at", "by", "intent")
    return [name for action in ended for name in ours[action.id] if name.endswith(_digest(action))]


def _digest(action: Action) -> str:
    identity = (action.requested_at.isoformat(), action.cluster, bytes(action.intent).hex())
    return hashlib.sha256("\n".join(identity).encode()).hexdigest()[:12]
