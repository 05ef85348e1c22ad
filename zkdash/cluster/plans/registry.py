"""The kinds of actions, found where they are declared: in the modules below `kinds`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Any, Final

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import intents, kinds
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.intents import Intent, ReelectController
from zkdash.cluster.plans.values import Ground


def _declared() -> Iterator[ActionKind[Any]]:
    for module in sorted(module_info.name for module_info in pkgutil.iter_modules(kinds.__path__)):
        values = vars(importlib.import_module(f"{kinds.__name__}.{module}")).values()
        yield from (value for value in values if isinstance(value, ActionKind))


KINDS: Final = tuple(_declared())
BY_TAG: Final[Mapping[str, ActionKind[Any]]] = {kind.tag: kind for kind in KINDS}


def of(intent: Intent) -> ActionKind[Any]:
    """The kind of an intent."""
    return BY_TAG[intents.kind(intent)]


def title(tag: str) -> str:
    """What is done, as a heading; the tag itself where a later release made it."""
    return BY_TAG[tag].title if tag in BY_TAG else tag


def why_not(tag: str, state: ClusterState) -> str:
    """Why no action of a kind could be carried out now, whatever its form says; "" where one might be."""
    kind = BY_TAG[tag]
    draft = Draft(ReelectController(), Ground(state), "")
    if not kind.needs_controller:
        draft.require_loaded()
    elif draft.require_controller() and (reason := kind.why_not(draft)):
        draft.refuse(reason)
    return draft.refusals[0] if draft.refusals else ""
