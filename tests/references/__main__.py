"""The pages that say what the code declares: `python -m tests.references` writes them anew.

With `--check` nothing is written, and it ends with 1 where a page says something else (`make check`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import django

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"


def pages() -> Mapping[str, Callable[[], str]]:
    """What makes each page, by its name. Django has to be set up."""
    from tests.references import actions, checks, commands, configuration, tables

    return {
        "actions.md": actions.text,
        "checks.md": checks.text,
        "commands.md": commands.text,
        "configuration.md": configuration.text,
        "tables.md": tables.text,
    }


def differing(docs: Path) -> Iterator[tuple[str, str]]:
    """(name, text) of each page in a directory that is not what the code declares."""
    for name, text in pages().items():
        page, declared = docs / name, text()
        if not page.exists() or page.read_text(encoding="utf-8") != declared:
            yield name, declared


def main(arguments: list[str]) -> int:
    """The exit code: 1 where `--check` found a page that differs."""
    stale = dict(differing(DOCS))
    if "--check" not in arguments:
        for name, text in stale.items():
            (DOCS / name).write_text(text, encoding="utf-8")
        return 0
    for name in stale:
        print(f"docs/{name} does not say what the code declares: run `python -m tests.references`")  # noqa: T201
    return int(bool(stale))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "zkdash.settings")
    django.setup()
    sys.exit(main(sys.argv[1:]))
