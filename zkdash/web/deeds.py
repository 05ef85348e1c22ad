"""From a finding to the form of the action that mends it, filled in with what caused it."""

from __future__ import annotations

import heapq
from typing import Final

from zkdash.cluster import checks
from zkdash.cluster.checks import About
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web import forms, kinds, picks
from zkdash.web.forms.base import MOST_AT_ONCE
from zkdash.web.forms.fields import BrokersField, LinesField

_PARAMETERS: Final = {About.TOPIC: "topic", About.GROUP: "group", About.BROKER: "broker"}


def of(snapshot: Snapshot, check: str, key: PageKey) -> picks.Deed | None:
    """The way to the form; None where no action mends what the check finds, or none is offered."""
    known = checks.BY_ID.get(check)
    if known is None or known.deed not in forms.BY_KIND or not picks.offers(key):
        return None
    parameter = _PARAMETERS.get(known.about, "")
    looked = snapshot.observations.looked.get(check)
    held = looked.held if looked is not None else frozenset()
    causes = [(parameter, name) for name in heapq.nsmallest(_most(known.deed, parameter), held)]
    return picks.deeds(key, (f"{kinds.title(known.deed)}…", known.deed, causes))[0]


def _most(kind: str, parameter: str) -> int:
    """How many of such a parameter a form takes."""
    form = forms.BY_KIND[kind]
    field = form.base_fields.get(form.names.get(parameter, parameter))
    if field is None:
        return 0
    return MOST_AT_ONCE if isinstance(field, LinesField | BrokersField) else 1
