"""What docs/configuration.md has to say, made of the declarations in `zkdash/configuration`.

`python -m tests.configuration_told > docs/configuration.md` writes it.
"""

from __future__ import annotations

import sys
from typing import Final

import msgspec
from msgspec import inspect

from zkdash.configuration import keys, sign_in
from zkdash.configuration.brokers import Brokers
from zkdash.configuration.checks import Checks
from zkdash.configuration.clusters import Cluster
from zkdash.configuration.environment import SUBJECTS, Subject
from zkdash.configuration.keys import Key
from zkdash.configuration.limits import Limits
from zkdash.configuration.log_dirs import LogDirs
from zkdash.configuration.messages import Messages
from zkdash.configuration.tables import Table

_HEAD = """\
# The configuration

All that can be set: variables of the environment, and the tables of the TOML file that `ZKDASH_CONFIG`
names. Both are read once, at the start. An unknown key, a cluster named twice, an address that cannot be
right: zkdash does not start, and says which file, key and value it is. `zkdash check` tries what is
configured, and names variables that nothing reads.

How it is used, with examples: [Operating zkdash](operating.md#configuration),
[a secured ZooKeeper](securing.md), [signing in](sign-in.md). This page is what the declarations in
`zkdash/configuration` say of themselves; a test keeps the two equal.
"""
TABLES: Final[tuple[tuple[str, type[Table], str], ...]] = (
    (
        "[clusters.<name>]",
        Cluster,
        (
            "One table a cluster. Its name is 1 to 63 of `a-z 0-9 . _ -`. A key `write_…` says the same as "
            "the one without it, of who carries out actions; without any of these that is who reads."
        ),
    ),
    (
        "[clusters.<name>.brokers]",
        Brokers,
        "Over what its brokers are asked, and as whom: [secured brokers](securing.md).",
    ),
    (
        "[[clusters.<name>.segments]]",
        LogDirs,
        "Where a broker's log directories lie: [brokers' disks](pipeline.md#brokers-disks).",
    ),
    (
        "[clusters.<name>.brokers]",
        Brokers,
        "Over what a cluster's brokers are asked, and as whom ([how](securing.md)).",
    ),
    (
        "[[clusters.<name>.segments]]",
        LogDirs,
        "The log directories of brokers, as the pipeline can open them ([how](pipeline.md)).",
    ),
    ("[messages]", Messages, "Where [messages may be looked at](operating.md#messages)."),
    ("[sign_in.oidc]", sign_in.Oidc, "An OpenID Connect provider that vouches for people."),
    ("[sign_in.ldap]", sign_in.Ldap, "An LDAP directory that does."),
    (
        "[[sign_in.roles]]",
        sign_in.GroupRole,
        "What a group of theirs may do here; as many as there are groups.",
    ),
    (
        "[checks]",
        Checks,
        "For every cluster; what differs for one in `[clusters.<name>.checks]`. [The checks](checks.md).",
    ),
    ("[limits]", Limits, "How much may come in; [what happens at a limit](operating.md#limits)."),
    ("[messages]", Messages, "Whose messages may be looked at: [Messages](operating.md#messages)."),
)


def text() -> str:
    """The whole page."""
    return "\n".join((_HEAD, *map(_variables, SUBJECTS), *(_table(*table) for table in TABLES)))


def _variables(subject: Subject) -> str:
    rows = "".join(
        f"| `{each.name}` | {each.meaning} | {each.takes} | {each.default or '–'} |\n"
        for each in subject.variables
    )
    return f"## {subject.heading}\n\n| variable | meaning | takes | unless set |\n|---|---|---|---|\n{rows}"


def _table(heading: str, table: type[Table], lead: str) -> str:
    rows = "".join(
        f"| `{key.name}` | {_meaning(key)} | {_takes(key)} | {_default(key)} |\n" for key in _keys(table)
    )
    return f"## `{heading}`\n\n{lead}\n\n| key | meaning | takes | unless set |\n|---|---|---|---|\n{rows}"


def _keys(table: type[Table]) -> list[Key]:
    """Those that must be set first. What is itself a table has a heading of its own."""
    own = (key for key in keys.of(table).values() if not isinstance(key.takes, inspect.StructType))
    return sorted(own, key=lambda key: not key.required)


def _takes(key: Key) -> str:
    takes, unit = key.takes, str(key.extra.get("unit") or "")
    of = f" {unit}" if unit else ""
    match takes:
        case inspect.BoolType():
            return "`true` or `false`"
        case inspect.IntType():
            return f"{_number(takes.ge)} to {_number(takes.le)}{of}"
        case inspect.FloatType():
            least = f"more than {_number(takes.gt)}" if takes.ge is None else _number(takes.ge)
            return f"{least} to {_number(takes.le)}{of}"
        case inspect.VarTupleType() if isinstance(takes.item_type, inspect.StructType):
            return ("a text, or " if "short" in key.extra else "") + "a list of tables"
        case inspect.VarTupleType():
            return "a text, or a list of texts" if key.extra.get("alone") else "a list of texts"
    choices = key.extra.get("choices")
    return ", ".join(f"`{choice}`" for choice in choices) if choices else "a text"


def _default(key: Key) -> str:
    default = key.default
    if key.required:
        return "must be set"
    if default in (None, "", ()):
        return "–"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, int | float):
        return _number(default)
    return ", ".join(f"`{each}`" for each in default) if isinstance(default, tuple) else f"`{default}`"


def _meaning(key: Key) -> str:
    return key.description.replace("|", "\\|")


def _number(value: float | None) -> str:
    """As the pages of zkdash write one: 1 000 000."""
    assert value is not None
    whole = msgspec.convert(value, float)
    return f"{int(whole):,}".replace(",", " ") if whole.is_integer() else f"{whole:g}"


if __name__ == "__main__":
    sys.stdout.write(text())
