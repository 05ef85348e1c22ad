from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.cluster.tables.topic_queries import Query
from zkdash.web.frame import listing

SPEC = listing.Spec(sorts=("status", "name", "partitions"))


@pytest.mark.parametrize(
    ("raw", "query"),
    [
        ("", Query()),
        ("q=orders", Query(q="orders")),
        ("q=a%26b%3D+c", Query(q="a&b= c")),
        ("status=critical&status=warning", Query(status=("critical", "warning"))),
        ("status=warn,crit", Query(status=("critical", "warning"))),
        ("sort=-partitions&page=2&size=200", Query(sort="-partitions", page=2, size=200)),
        ("sort=status&page=1&size=50&q=", Query()),
    ],
)
def test_it_reads_what_it_knows(raw: str, query: Query) -> None:
    assert SPEC.read(raw) == (query, ())


@pytest.mark.parametrize(
    ("raw", "note"),
    [
        ("sort=offset", "“offset” is no column to sort by; sorted by status."),
        ("page=0", "“0” is not a page; showing the first."),
        ("page=two", "“two” is not a page; showing the first."),
        ("page=99999999999999999999", "“99999999999999999999” is not a page; showing the first."),
        ("page=²", "“²” is not a page; showing the first."),
        ("size=51", "“51” is not a page size; there are 50, 200, 1000."),
        ("status=bad", "“bad” is not a status; there are critical, warning, unknown, info, ok."),
        ("colour=red", "“colour” is not a parameter of this page."),
    ],
)
def test_what_it_does_not_understand_falls_back_and_is_said(raw: str, note: str) -> None:
    assert SPEC.read(raw) == (Query(), (note,))


def test_too_many_parameters_are_not_read() -> None:
    query, notes = SPEC.read("&".join(["q=x"] * 101))
    assert query == Query()
    assert notes == ("The address has more than 100 parameters; none of them is read.",)


def test_defaults_are_left_out_of_the_address() -> None:
    assert SPEC.write(Query(sort="status")) == ""


def test_another_order_starts_at_the_first_page() -> None:
    assert SPEC.write(Query(q="a", page=3), sort="name") == "q=a&sort=name"


@given(st.text(max_size=300))
def test_any_address_has_one_canonical_form(raw: str) -> None:
    canonical, _ = SPEC.canonical(raw)
    assert SPEC.canonical(canonical) == (canonical, ())


def test_a_filter_of_very_many_words_is_cut_and_that_is_said() -> None:
    query, notes = SPEC.read("q=" + "+".join(f"w{number}" for number in range(30)))
    assert query.q.split() == [f"w{number}" for number in range(20)]
    assert notes == ("The filter has 30 words; the first 20 are looked for.",)


def test_so_are_very_many_statuses() -> None:
    query, notes = SPEC.read("status=warning," + ",".join(map(str, range(40))))
    assert query.status == ("warning",)
    assert notes[0] == "41 statuses are asked for; the first 20 are looked at."
    assert len(notes) == 20
