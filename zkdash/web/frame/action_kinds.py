"""The kinds of actions in words, by their tags."""

from __future__ import annotations

from typing import Final

TITLES: Final = {
    "reassign": "Move replicas",
    "elect-preferred": "Elect preferred leaders",
    "create-topic": "Create a topic",
    "add-partitions": "Add partitions",
    "change-config": "Change a topic’s configuration",
    "delete-topic": "Delete a topic",
    "delete-group": "Delete a group",
    "reset-offsets": "Set a group’s offsets",
    "reelect-controller": "Elect the controller anew",
    "clear-throttles": "Clear leftover throttles",
    "clear-configs": "Clear configurations of absent topics",
    "clear-stuck": "Remove a stuck request",
    "revert-stuck": "Revert a stuck reassignment",
    "clean-up-topic": "Clean up after a stuck deletion",
}


def title(kind: str) -> str:
    """What is done, as a heading; the tag itself where a later release made it."""
    return TITLES.get(kind, kind)
