"""Rules of templates, styles and script that no page may break."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from zkdash.web import pages

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "static"
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))


def _id(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", TEMPLATES, ids=_id)
def test_a_template_trusts_nothing_and_runs_nothing(path: Path) -> None:
    text = path.read_text()
    for forbidden in ("|safe", "autoescape off", "javascript:", "style=", "hx-on", "hx-vals", "|escapejs"):
        assert forbidden not in text
    assert not re.search(r"\son[a-z]+\s*=", text), "inline handler"
    assert not re.search(r"<script(?![^>]*\ssrc=)", text), "inline script"
    assert not re.search(r"=\{\{", text), "unquoted attribute"


def test_htmx_may_not_evaluate_nor_reach_other_origins() -> None:
    base = (ROOT / "templates" / "base.html").read_text()
    for setting in (
        '"allowEval":false',
        '"allowScriptTags":false',
        '"includeIndicatorStyles":false',
        '"selfRequestsOnly":true',
    ):
        assert setting in base


# Of all that a page asks for: what it takes over the wire, compressed as it is served, and how many files.
@pytest.mark.parametrize(
    ("folder", "kind", "bytes_limit", "files_limit"),
    [("style", "css", 25 * 512, 10), ("script", "js", 21 * 512, 13)],
)
def test_what_every_page_loads_stays_small(
    folder: str, kind: str, bytes_limit: int, files_limit: int
) -> None:
    files = sorted((STATIC / folder).glob(f"*.{kind}"))
    assert 1 < len(files) <= files_limit
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) <= bytes_limit


def test_what_only_some_pages_load_stays_small() -> None:
    for name in ("trends.js", "embed.js", "embed.css"):
        assert (STATIC / name).stat().st_size <= 5 * 1024, name


def test_every_module_is_asked_for_at_once_and_every_style_is_linked() -> None:
    scripts = (ROOT / "templates" / "frame" / "scripts.html").read_text()
    linked = scripts + "".join(
        (ROOT / "templates" / name).read_text() for name in ("base.html", "frame/styles.html")
    )
    for path in (*(STATIC / "script").iterdir(), *(STATIC / "style").iterdir()):
        assert f"{{% static '{path.relative_to(STATIC)}' %}}" in linked, path


def test_the_scripts_make_no_code_from_text() -> None:
    for path in STATIC.rglob("*.js"):
        text = path.read_text()
        for forbidden in ("eval(", "Function(", "document.write", "insertAdjacentHTML", "window.confirm"):
            assert forbidden not in text, path


def test_every_entry_of_the_side_bar_has_a_picture() -> None:
    icons = (ROOT / "templates" / "frame" / "icons.html").read_text()
    for page in pages.PAGES:
        assert not page.label or f'id="icon-{page.name}"' in icons, page.name


def _tokens(theme: int) -> dict[str, str]:
    pairs = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", TOKENS)
    return {name: colours[theme] for name, *colours in pairs}


def _luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    digits = "".join(d * 2 for d in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


TOKENS = (STATIC / "style" / "tokens.css").read_text()


@pytest.mark.parametrize("theme", [_tokens(0), _tokens(1)], ids=["light", "dark"])
def test_text_stands_out_from_everything_behind_it(theme: dict[str, str]) -> None:
    for text in ("text", "muted", "ok", "warn", "crit", "info", "unknown"):
        for behind in ("bg", "surface", "raised", "changed"):
            assert _contrast(theme[text], theme[behind]) >= 4.5, (text, behind)
    for severity in ("ok", "warn", "crit", "info", "unknown"):
        assert _contrast(theme[severity], theme[f"{severity}-tint"]) >= 4.5, severity
    for behind in ("bg", "surface"):
        assert _contrast(theme["control"], theme[behind]) >= 3


def test_colours_are_told_nowhere_but_in_the_tokens_and_for_paper() -> None:
    for path in (*(STATIC / "style").iterdir(), STATIC / "embed.css"):
        if path.name not in {"tokens.css", "print.css"}:
            assert not re.search(r"#[0-9a-f]{3,8}\b(?=[;, )])", path.read_text()), path
