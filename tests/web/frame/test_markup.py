"""HTML from values is what Django makes of them, whatever they are."""

from __future__ import annotations

from django.utils import html
from django.utils.functional import lazystr
from django.utils.safestring import SafeString
from hypothesis import given
from hypothesis import strategies as st

from zkdash.cluster.model.severity import Severity
from zkdash.web.frame import markup

_TEXTS = st.text(st.sampled_from("<>&'\"a{}%é\ud800\u202e"), max_size=8)
_VALUES = st.one_of(
    _TEXTS,
    _TEXTS.map(SafeString),
    _TEXTS.map(lazystr),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.sampled_from(Severity),
    st.lists(_TEXTS, max_size=2),
)


@given(_VALUES, _VALUES)
def test_values_are_escaped_as_django_escapes_them(one: object, other: object) -> None:
    pattern = '<a href="{}">{}</a>'
    found = markup.format_html(pattern, one, other)
    assert found == html.format_html(pattern, one, other)
    assert type(found) is SafeString


@given(_TEXTS, st.lists(st.tuples(_VALUES, _VALUES), max_size=3))
def test_what_stands_between_is_escaped_too(separator: str, rows: list[tuple[object, object]]) -> None:
    wanted = html.format_html_join(separator, "{}<br>{}", rows)
    assert markup.format_html_join(separator, "{}<br>{}", rows) == wanted
