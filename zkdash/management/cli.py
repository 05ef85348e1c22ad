"""The command line: `manage.py` of a checkout, and `zkdash` where the package is installed."""

from __future__ import annotations

import os
import sys

# What an operator calls otherwise than Django, which has a `check` of its own.
_VERBS = {"check": "verify"}


def main() -> None:
    """What `zkdash` does."""
    sys.argv[1:2] = [_VERBS.get(verb, verb) for verb in sys.argv[1:2]]
    manage()


def manage() -> None:
    """What `manage.py` does: our commands, and Django's own."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "zkdash.settings")
    from zkdash.management import ending  # noqa: PLC0415 - before anything slow

    ending.prepare(sys.argv[1:])
    try:
        _execute()
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell tells it


def _execute() -> None:
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415 - slow
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - slow

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        if sys.argv[1:2] == ["verify"] and "--json" in sys.argv:
            from zkdash.management.verifying.finding import Finding, State, as_json  # noqa: PLC0415

            print(as_json([Finding("configuration", State.WRONG, str(error))]))  # noqa: T201
            sys.exit(1)
        sys.exit(f"zkdash cannot start: {error}")


if __name__ == "__main__":
    main()
