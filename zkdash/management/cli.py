"""The command line: `manage.py` of a checkout, and `zkdash` where the package is installed."""

from __future__ import annotations

import os
import select
import sys
from typing import Final

from zkdash import program, version

# What `zkdash` without a command lists; Django's own commands, such as `migrate`, are there beside them.
COMMANDS: Final = {
    "demo": "a simulated cluster on a real ZooKeeper, and the dashboard for it",
    "serve": "the dashboard of the configured clusters",
    "check": "tries what is configured, and changes nothing",
    "execute": "carries out actions, in a process of its own",
    "record": "records what changes, in a process of its own",
    "pipeline": "makes tables of logs and of what was recorded",
    "action": "plans, queues and follows actions from a shell",
    "log": "tells what a broker's log directories hold, and whether it is sound",
    "audit": "verifies and exports the audit",
    "notices": "lists whom webhooks and mail told of what",
    "createadmin": "makes an administrator",
}


def main() -> None:
    """What `zkdash` does."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["help"] and len(arguments) > 1:
        arguments = [arguments[1], "--help"]
    match arguments:
        case [] | ["help" | "-h" | "--help"]:
            print(overview())  # noqa: T201
        case ["version" | "--version"]:
            print(f"zkdash {version.version()}")  # noqa: T201
        case [verb, *options]:
            sys.argv[1:] = [program.VERBS.get(verb, verb), *options]
            manage()


def overview() -> str:
    """What there is to be done, a line a command."""
    lines = "\n".join(f"  {name:13}{what}" for name, what in COMMANDS.items())
    return (
        f"zkdash {version.version()}: the state that Kafka keeps in ZooKeeper, live in the browser\n\n"
        f"{lines}\n\n"
        "“zkdash <command> --help” tells more. Begin with\n  ZKDASH_ZOOKEEPER=host:2181/chroot zkdash check"
    )


def manage() -> None:
    """What `manage.py` does: our commands, and Django's own."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "zkdash.settings")
    from zkdash.management import ending  # noqa: PLC0415 - before anything slow

    ending.prepare(sys.argv[1:])
    try:
        try:
            _execute()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell tells it
    except BrokenPipeError:
        if _is_read():
            raise
        # Whoever reads has read enough, as in `check | head`: what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)  # as a shell tells it


def _is_read() -> bool:
    """Whether what is printed has a reader still."""
    printed = select.poll()
    printed.register(sys.stdout, 0)
    return not any(event & select.POLLERR for _, event in printed.poll(0))


def _execute() -> None:
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415 - slow
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - slow

    try:
        execute_from_command_line([program.name(), *sys.argv[1:]])
    except ImproperlyConfigured as error:
        if sys.argv[1:2] == ["verify"] and "--json" in sys.argv:
            from zkdash.management.verifying.finding import Finding, State, as_json  # noqa: PLC0415

            print(as_json([Finding("configuration", State.WRONG, str(error))]))  # noqa: T201
            sys.exit(1)
        sys.exit(f"zkdash cannot start: {error}")


if __name__ == "__main__":
    main()
