"""Who does something to the queue."""

from __future__ import annotations

import msgspec


class Actor(msgspec.Struct, frozen=True):
    """A person or a process, by name; `user_id` is the Django user's, None of a process.

    `source` is how they came: web, command, repeat, undo, finding, worker.
    """

    name: str
    user_id: int | None = None
    source: str = "web"
