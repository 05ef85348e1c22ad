"""How Sphinx makes a site of these pages: `make docs`. They are written to be read as files too."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

from sphinx.application import Sphinx

_HERE: Final = Path(__file__).resolve().parent
_PROJECT: Final = tomllib.loads((_HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "zkdash"
author = "the authors of zkdash"
project_copyright = "Apache License 2.0"
version = release = _PROJECT["version"]
html_title = f"zkdash {release}"
extensions = ["myst_parser"]
root_doc = "index"
# What the headings of a page are called in links, as everywhere else where Markdown is shown.
myst_heading_anchors = 4
html_theme = "furo"
html_show_sphinx = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False

# A page, or a folder of them, as index.md lists it.
_LISTED: Final = re.compile(r"^- \[[^\]]+\]\(([^)#]+)\)", re.MULTILINE)
_LINK: Final = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)([^)#]+)[^)]*\)")


def setup(app: Sphinx) -> None:
    """Sphinx's hook."""
    app.connect("source-read", _read)


def _read(_app: Sphinx, page: str, source: list[str]) -> None:
    """The parts of index.md are the site's navigation; what is no page of it is named and not linked."""
    if page == root_doc:
        source[0] = re.sub(r"^## .*\n(?:(?!## ).*\n)*", _with_navigation, source[0], flags=re.MULTILINE)
    directory = (_HERE / page).parent

    def within(link: re.Match[str]) -> str:
        target = (directory / link[2]).resolve()
        is_elsewhere = target.is_dir() or not target.is_relative_to(_HERE)
        return link[1] if is_elsewhere and target.exists() else link[0]

    source[0] = _LINK.sub(within, source[0])


def _with_navigation(part: re.Match[str]) -> str:
    caption = part[0].partition("\n")[0].removeprefix("## ")
    pages = "\n".join(
        target.removesuffix(".md") if target.endswith(".md") else f"{target}*"
        for target in _LISTED.findall(part[0])
    )
    return f"{part[0]}\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n\n{pages}\n```\n\n"
