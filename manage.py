#!/usr/bin/env python
"""The command line of zkdash: serve, demo, and Django's own commands."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "zkdash.settings")
    from zkdash.management import ending

    ending.prepare(sys.argv[1:])
    try:
        _execute()
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell tells it


def _execute() -> None:
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        if sys.argv[1:2] == ["verify"] and "--json" in sys.argv:
            from zkdash.management.verifying.finding import Finding, State, as_json

            print(as_json([Finding("configuration", State.WRONG, str(error))]))  # noqa: T201
            sys.exit(1)
        sys.exit(f"zkdash cannot start: {error}")


if __name__ == "__main__":
    main()
