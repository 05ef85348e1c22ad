"""What the wheel needs of others: the sections of requirements.txt, which stays the one place of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# The beginning of a section's heading, and the extra that it is; "" is what zkdash alone needs.
SECTIONS = {
    "the dashboard": "",
    "PostgreSQL": "postgres",
    "the pipeline": "pipeline",
    "single sign-on": "sso",
}


class Requirements(MetadataHookInterface):
    """Hatchling's hook."""

    def update(self, metadata: dict[str, Any]) -> None:
        wanted = sections((Path(self.root) / "requirements.txt").read_text())
        metadata["dependencies"] = wanted.pop("")
        metadata["optional-dependencies"] = wanted


def sections(text: str) -> dict[str, list[str]]:
    """The requirements of each extra of `SECTIONS`; what only tests and set-up need is in none."""
    wanted: dict[str, list[str]] = {extra: [] for extra in SECTIONS.values()}
    extra: str | None = None
    for line in text.splitlines():
        if heading := re.match(r"# --- (.*)", line):
            extra = next((name for begins, name in SECTIONS.items() if heading[1].startswith(begins)), None)
        elif line and not line.startswith("#") and extra is not None:
            wanted[extra].append(line.partition(" #")[0].strip())
    return wanted
