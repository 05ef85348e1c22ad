"""In what two persistent maps differ: they hold the very same object for a name of which nothing changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import compress
from operator import is_not


def among(names: Iterable[str], before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    """Those of some names for which the maps hold different objects, or one of them none."""
    return {name for name in names if before.get(name) is not after.get(name)}


def names(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    """The names that one of them alone holds, or for which they hold different objects.

    Some 50 ns a name, and nothing where they are one map.
    """
    if before is after:
        return set()
    every = list(after)
    if every == list(before):  # whose keys lie alike, without a look a name
        return set(compress(every, map(is_not, before.values(), after.values())))
    return among({*before, *after}, before, after)
