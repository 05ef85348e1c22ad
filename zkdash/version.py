"""Which zkdash this is: the version of pyproject.toml, or of the wheel that was made of it."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path
from typing import Final

_PROJECT: Final = Path(__file__).resolve().parent.parent / "pyproject.toml"


def version() -> str:
    """As pyproject.toml of a checkout has it, else as the installed package."""
    if _PROJECT.exists():
        return str(tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]["version"])
    return metadata.version("zkdash")
