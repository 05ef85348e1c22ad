"""What an action acts on, and where that is looked at: the way back from a finished action."""

from __future__ import annotations

from itertools import islice
from typing import Final

from zkdash.actions.reading.entries import Detail
from zkdash.actions.states import State
from zkdash.cluster.plans.goals import Assigned, Led
from zkdash.cluster.plans.values import Plan
from zkdash.kafka.values import Move
from zkdash.web.frame import links

# How many topics of one action are led to.
MOST: Final = 5
_OF_GROUP: Final = {"reset-offsets", "delete-group"}
_OF_TOPIC: Final = {"create-topic", "add-partitions", "change-config", "delete-topic", "clean-up-topic"}
# What takes away that which it acts on: once it is done, the list is what is left to look at.
_REMOVES: Final = {"delete-topic", "clean-up-topic", "delete-group"}
_LISTS: Final = {
    "elect-preferred": ("Brokers", "brokers/"),
    "reelect-controller": ("Brokers", "brokers/"),
    "clear-throttles": ("Configuration", "configs/"),
    "clear-configs": ("Configuration", "configs/"),
}


def targets(detail: Detail) -> list[tuple[str, str]]:
    """(name, address) of each page about what an action acts on, at most `MOST` and a list."""
    entry = detail.entry
    cluster, kind = entry.cluster, entry.kind
    if kind in _REMOVES and entry.state is State.DONE and not _is_about_a_part(detail):
        list_of = "groups" if kind in _OF_GROUP else "topics"
        return [(list_of.capitalize(), links.cluster(cluster, f"{list_of}/"))]
    if kind in _OF_GROUP:
        return [(f"group {entry.target}", links.group(cluster, entry.target))]
    if kind in _OF_TOPIC:
        return [(f"topic {entry.target}", links.topic(cluster, entry.target))]
    moved = [(f"topic {name}", links.topic(cluster, name)) for name in _moved(detail.plan)]
    if kind in _LISTS:
        name, path = _LISTS[kind]
        return [*moved, (name, links.cluster(cluster, path))]
    return moved


def _is_about_a_part(detail: Detail) -> bool:
    """Whether a group stays, of which only one topic's znodes are deleted: its plan asks for no name."""
    return detail.entry.kind == "delete-group" and detail.plan is not None and detail.plan.confirm is None


def _moved(plan: Plan | None) -> list[str]:
    """The first topics whose partitions a plan moves, or makes."""
    goals = (step.goal for step in plan.steps) if plan else ()
    names: dict[str, None] = {}
    for goal in islice(goals, MOST):
        if isinstance(goal, Assigned):
            names.update((move.topic, None) for move in goal.moves if isinstance(move, Move))
        elif isinstance(goal, Led):
            names[goal.topic] = None
    return list(islice(names, MOST))
