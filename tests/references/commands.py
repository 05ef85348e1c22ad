"""What docs/commands.md has to say, made of the parsers of the commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from django.core.management import load_command_class
from django.core.management.base import DjangoHelpFormatter

from tests.references.markdown import code, table
from zkdash import program
from zkdash.management import cli

_HEAD = """\
# The commands

All that `zkdash` does, as `zkdash <command> --help` tells it. In a checkout it is `.venv/bin/python
manage.py`, and `check` is `verify` there. Settings come from variables and one file
([configuration](configuration.md)). How the commands are used: [operating](operating.md),
[deploying](deploying.md), [acting](acting.md), [the pipeline](pipeline.md), [log files](logs.md).

Each takes `--help`, and the options that Django gives all its commands, such as `--traceback` and
`--no-color`. `zkdash --version` tells the version, `zkdash help` lists these. What runs until it is told to
ends by SIGTERM or Ctrl-C, within 10 s.

This page is what the commands in `zkdash/management/commands` say of themselves; `make check` keeps the two
equal.
"""
_DJANGOS: Final = DjangoHelpFormatter.show_last | {"--help"}


def text() -> str:
    """The whole page."""
    return "\n".join((_HEAD, *(part for verb in cli.COMMANDS for part in _command(verb))))


def _command(verb: str) -> Iterator[str]:
    name = program.VERBS.get(verb, verb)
    command = load_command_class("zkdash", name)
    parser = command.create_parser("zkdash", verb)
    yield f"## zkdash {verb}\n\n{' '.join(command.help.split())}\n"
    yield from _usage(parser, f"zkdash {verb}")
    for verbs in parser._subparsers._group_actions if parser._subparsers else ():
        assert isinstance(verbs, argparse._SubParsersAction)
        for listed in verbs._choices_actions:
            yield f"### zkdash {verb} {listed.dest}\n\n{_sentence(listed.help or '')}\n"
            yield from _usage(verbs.choices[listed.dest], f"zkdash {verb} {listed.dest}")


def _usage(parser: argparse.ArgumentParser, begins: str) -> Iterator[str]:
    """One line as it is typed, and a table of what can be given."""
    actions = [
        action
        for action in parser._actions
        if not _DJANGOS.intersection(action.option_strings)
        and action.help is not argparse.SUPPRESS
        and not isinstance(action, argparse._SubParsersAction)
    ]
    if actions:
        yield f"```\n{' '.join((begins, *_line(parser, actions)))}\n```\n"
        yield table(("what", "meaning", "unless given"), map(_row, actions))


def _line(parser: argparse.ArgumentParser, actions: list[argparse.Action]) -> Iterator[str]:
    """As usage lines have it: in brackets what may be left out, between bars that of which one is given."""
    group_of = {
        id(action): group for group in parser._mutually_exclusive_groups for action in group._group_actions
    }
    for action in actions:
        group = group_of.get(id(action))
        if group is None:
            yield _given(action)
        elif action is group._group_actions[0]:
            choices = " | ".join(_given(each).strip("[]") for each in group._group_actions)
            yield f"({choices})" if group.required else f"[{choices}]"


def _given(action: argparse.Action) -> str:
    """As it is typed, with dots where it may come more than once."""
    value = _value(action) if action.nargs != 0 else ""
    written = f"{action.option_strings[-1]} {value}".strip() if action.option_strings else value
    written += " …" * (action.nargs in {"+", "*"})
    may_be_left_out = not action.required if action.option_strings else action.nargs in {"?", "*"}
    return f"[{written}]" if may_be_left_out else written


def _value(action: argparse.Action) -> str:
    if action.metavar:
        return str(action.metavar)
    if action.choices and len(list(action.choices)) <= 3:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


def _row(action: argparse.Action) -> tuple[str, str, str]:
    name = ", ".join(map(code, action.option_strings)) or code(_value(action))
    meaning = str(action.help or "").replace("(default %(default)g)", "").replace("(default 127.0.0.1)", "")
    if action.choices:
        meaning = f"{meaning}: " if meaning else ""
        meaning += ", ".join(code(str(choice)) for choice in action.choices)
    return name, meaning, "must be given" if action.required else _default(action.default)


def _default(default: object) -> str:
    if default in (None, "", False) or default is argparse.SUPPRESS:
        return ""
    return code(f"{default:g}" if isinstance(default, float) else str(default))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "." * (not text.endswith("."))
