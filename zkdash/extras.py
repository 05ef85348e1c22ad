"""What zkdash is installed without, and says so: the extras of its wheel, by a module that each brings."""

from __future__ import annotations

import importlib.util
from typing import Final

_MODULES: Final = {"pipeline": "pyspark", "postgres": "psycopg", "sso": "authlib"}


def missing(extra: str, what: str) -> str:
    """The sentence that `what` needs an extra that is not installed; "" where it is."""
    if importlib.util.find_spec(_MODULES[extra]) is not None:
        return ""
    return f"{what} needs more than the dashboard alone: pip install 'zkdash[{extra}]'."
