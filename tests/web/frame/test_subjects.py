"""What a page is about: which znodes tell of it, where its page is, and how addresses name it."""

from __future__ import annotations

import pytest

from zkdash.web.frame import subjects
from zkdash.web.frame.parameters import Parameters, of_canonical
from zkdash.web.frame.subjects import Subject

_PARAMETERS = Parameters(subjects.NAMES)


@pytest.mark.parametrize(
    ("subject", "own", "others"),
    [
        (
            subjects.of_topic("orders"),
            ("/brokers/topics/orders", "/brokers/topics/orders/partitions/1/state", "/config/topics/orders"),
            ("/brokers/topics/orders-2", "/brokers/topics", "/config/topics/orders-2"),
        ),
        (
            subjects.of_topic("orders", 1),
            ("/brokers/topics/orders/partitions/1/state", "/admin/delete_topics/orders"),
            ("/brokers/topics/orders/partitions/11/state", "/brokers/topics/orders"),
        ),
        (subjects.of_group("g"), ("/consumers/g", "/consumers/g/ids/a"), ("/consumers/gg",)),
        (subjects.of_broker("1"), ("/brokers/ids/1", "/config/brokers/1"), ("/brokers/ids/12",)),
        (subjects.of_path("/a/b"), ("/a/b", "/a/b/c"), ("/a", "/a/bc")),
        (subjects.of_path("/"), (), ("/a",)),
    ],
)
def test_its_znodes_tell_of_it_and_those_of_others_do_not(
    subject: Subject, own: tuple[str, ...], others: tuple[str, ...]
) -> None:
    assert all(subject.holds(path) for path in own)
    assert not any(subject.holds(path) for path in others)


@pytest.mark.parametrize(
    ("subject", "page"),
    [
        (subjects.of_topic("a b", 3), ("topics/a%20b/", (("q", "3"),))),
        (subjects.of_group(".."), ("groups/~../", ())),
        (subjects.of_broker("7"), ("brokers/7/", ())),
        (subjects.of_path("/a/.."), ("znodes/a/~..", ())),
    ],
)
def test_it_is_named_as_it_is_read_and_has_a_page(
    subject: Subject, page: tuple[str, tuple[tuple[str, str], ...]]
) -> None:
    assert subject.page == page
    query = "&".join(f"{name}={value}" for name, value in subject.pairs)
    given = _PARAMETERS.read(query)
    assert subjects.read(given) == subjects.of_pairs(of_canonical(query)) == subject
    assert given.notes == []
