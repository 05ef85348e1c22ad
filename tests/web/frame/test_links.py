from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.web.frame import links

HOSTILE = (
    "..",
    ".",
    "~",
    "~.",
    "%2F",
    "%2e%2e",
    "a;b",
    "a b",
    "a#b",
    "a?b=c&d",
    "<script>",
    "\"'",
    "a\\b",
    "a\nb",
    "é",
    "\u202egnp.exe",
    "a+b",
    "//x",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_one_segment_that_no_browser_collapses(name: str) -> None:
    segment = links.segment(name)
    assert re.fullmatch(r"[A-Za-z0-9._~%-]+", segment)
    assert unquote(segment) not in {".", ".."}


@given(st.text(min_size=1).filter(lambda name: "/" not in name))
def test_a_link_leads_back_to_its_name(name: str) -> None:
    assert links.NameConverter().to_python(unquote(links.segment(name))) == name


def test_an_address_has_nothing_but_its_path() -> None:
    address = urlsplit(links.topic("demo", "a?b#c"))
    assert (address.path, address.query, address.fragment) == ("/c/demo/topics/a%3Fb%23c/", "", "")


@pytest.mark.parametrize("name", HOSTILE)
def test_an_element_id_is_safe_in_a_selector(name: str) -> None:
    assert re.fullmatch(r"topic-[0-9a-f]{16}", links.element_id("topic", name))


def test_different_names_have_different_ids() -> None:
    assert len({links.element_id("topic", name) for name in HOSTILE}) == len(HOSTILE)
