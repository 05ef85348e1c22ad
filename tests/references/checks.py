"""What docs/checks.md has to say, made of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator

from zkdash.cluster.checks import CHECKS, Check, Thresholds
from zkdash.cluster.plans import registry

_HEAD = """\
# The checks

What zkdash holds against a cluster, or for it, from what ZooKeeper keeps. A check is raised once what it
finds was seen at two looks at least `confirm` seconds apart, and has held for the check's own time, where it
has one. Every threshold is a key of `[checks]` in the file of `ZKDASH_CONFIG`, and may differ a cluster in
`[clusters.<name>.checks]`; [Operating zkdash](operating.md) shows both, and how findings are acknowledged
and sent.

This page is what the catalogue in `zkdash/cluster/checks` says of itself; `make check` keeps the two equal.
"""


def text() -> str:
    """The whole page."""
    defaults = Thresholds()
    keys = "".join(
        f"| `{name}` | {getattr(defaults, name):.12g} |\n" for name in Thresholds.__struct_fields__
    )
    parts = (_HEAD, "## Thresholds\n", f"| key | unless set |\n|---|---|\n{keys}", *map(_check, CHECKS))
    return "\n".join(parts)


def _check(check: Check) -> str:
    return "\n".join(_lines(check)) + "\n"


def _lines(check: Check) -> Iterator[str]:
    defaults = Thresholds()
    yield f"## {check.id}"
    yield ""
    yield f"- **Passes:** {check.passing}."
    yield f"- **Example of a failure:** {check.failing(2, 2)}."
    yield f"- **Severity:** {check.severity.value}"
    yield f"- **Caused by:** {check.about.value}"
    yield f"- **How it is computed:** {check.computed}"
    if check.thresholds:
        told = ", ".join(f"`{name}` ({getattr(defaults, name):.12g})" for name in check.thresholds)
        yield f"- **Thresholds:** {told}"
    yield f"- **What to do:** {check.remedy}"
    if check.deeds:
        yield f"- **Action:** {', or '.join(map(registry.title, check.deeds))}"
