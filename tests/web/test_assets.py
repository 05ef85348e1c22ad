"""Rules of templates, styles and script that no page may break."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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


@pytest.mark.parametrize(
    ("name", "limit"), [("zkdash.css", 20 * 1024), ("zkdash.js", 8 * 1024), ("trends.js", 4 * 1024)]
)
def test_what_every_page_loads_stays_small(name: str, limit: int) -> None:
    assert (ROOT / "static" / name).stat().st_size <= limit


def test_the_script_makes_no_code_from_text() -> None:
    text = (ROOT / "static" / "zkdash.js").read_text()
    for forbidden in ("eval(", "Function(", "document.write", "insertAdjacentHTML", "window.confirm"):
        assert forbidden not in text


def _tokens(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6});", block))


def _luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    digits = "".join(d * 2 for d in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


CSS = (ROOT / "static" / "zkdash.css").read_text()
LIGHT = _tokens(CSS.split("prefers-color-scheme")[0])
DARK_BLOCKS = [_tokens(block) for block in re.findall(r"\{([^{}]*--bg: #11151b[^{}]*)\}", CSS)]


@pytest.mark.parametrize("theme", [LIGHT, *DARK_BLOCKS], ids=["light", "dark", "dark by choice"])
def test_text_stands_out_from_everything_behind_it(theme: dict[str, str]) -> None:
    for text in ("text", "muted", "ok", "warn", "crit", "info", "unknown"):
        for behind in ("bg", "surface", "raised", "changed"):
            assert _contrast(theme[text], theme[behind]) >= 4.5, (text, behind)
    for tone in ("ok", "warn", "crit", "info", "unknown"):
        assert _contrast(theme[tone], theme[f"{tone}-tint"]) >= 4.5, tone
    for behind in ("bg", "surface"):
        assert _contrast(theme["control"], theme[behind]) >= 3


def test_both_ways_into_the_dark_lead_to_the_same_colours() -> None:
    assert len(DARK_BLOCKS) == 2
    assert DARK_BLOCKS[0] == DARK_BLOCKS[1]
