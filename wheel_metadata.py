"""What the wheel needs of others: the sections of requirements.txt, which stays the one place of them.

And what it holds of others: their licences, beside the static files that were collected of them.
"""

from __future__ import annotations

import re
from importlib import metadata as installed
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

# The beginning of a section's heading, and the extra that it is; "" is what zkdash alone needs.
SECTIONS = {
    "the dashboard": "",
    "PostgreSQL": "postgres",
    "the pipeline": "pipeline",
    "single sign-on": "sso",
}

# Of whose packages the folders of collected static files are, beside ours.
HOLDERS = {"admin": "django", "django_htmx": "django-htmx", "uplot": "uplot-python"}
NOTICES = "zkdash/files/NOTICES.txt"


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


class Notices(BuildHookInterface[Any]):
    """Hatchling's hook: the wheel tells whose files it holds, and under which licence."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's
        root = Path(self.root)
        file = root / "var" / "NOTICES.txt"
        file.write_text(notices(root / "var" / "static", root / "static"), encoding="utf-8")
        build_data["force_include"][str(file)] = NOTICES


def notices(collected: Path, ours: Path) -> str:
    """The licences of what was collected and is not ours. Raises LookupError for a folder of nobody known."""
    parts = ["zkdash holds files of others, as they were published. Their licences follow.\n"]
    for folder in sorted(path for path in collected.iterdir() if path.is_dir()):
        if (ours / folder.name).is_dir():
            continue
        if folder.name not in HOLDERS:
            raise LookupError(f"{folder} is of no package that wheel_metadata.py names: add it there.")
        package = installed.distribution(HOLDERS[folder.name])
        parts.append(f"{'=' * 78}\n{package.name} {package.version}: zkdash/files/static/{folder.name}/\n")
        parts += sorted(set(_heads(folder)))
        parts += [
            str(package.read_text(str(Path("licenses", *file.parts[file.parts.index("licenses") + 1 :]))))
            for file in package.files or ()
            if "licenses" in file.parts and file.name.startswith("LICENSE")
        ]
    return "\n".join(parts)


def _heads(folder: Path) -> list[str]:
    """What scripts of a folder say of themselves on their first lines."""
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in folder.glob("*.js"))
    heads = (re.match(r"/\*.*?\*/", text, re.DOTALL) for text in texts)
    return [f"{head[0]}\n" for head in heads if head]
