"""What the command line is called by whoever started it: `zkdash`, and `manage.py` in a checkout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

_CHECKOUT: Final = "manage.py"
# What `zkdash` calls otherwise than Django, which has a `check` of its own.
VERBS: Final = {"check": "verify"}


def name() -> str:
    """The program as messages name it; `python -m zkdash` and a server that loads our ASGI are `zkdash`."""
    return _CHECKOUT if Path(sys.argv[0]).name == _CHECKOUT else "zkdash"


def verb(command: str) -> str:
    """The command of `zkdash.management.commands` as it is typed: "check" of `zkdash` is "verify"."""
    if name() == _CHECKOUT:
        return command
    return next((typed for typed, django in VERBS.items() if django == command), command)


def line(command: str) -> str:
    """What is to be typed, for a message: "zkdash createadmin --link" of "createadmin --link"."""
    first, *options = command.split(" ")
    return " ".join((name(), verb(first), *options))
