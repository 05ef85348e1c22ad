"""Every address that takes a form takes a body, and no other does."""

from __future__ import annotations

import re

import pytest

from tests.web.test_matrix import MATRIX, METHODS, ROUTES, expected
from zkdash.limits import Limits
from zkdash.web.middleware import bodies

LARGE = {
    "c/<cluster:cluster>/actions/new/<str:kind>/",
    "c/<cluster:cluster>/checks/<name:check>/acknowledge/",
}


def address(route: str) -> str:
    return "/" + re.sub(r"<(?:(\w+):)?\w+>", lambda found: "7" if found[1] == "int" else "some", route)


@pytest.mark.parametrize("route", ROUTES)
def test_each_address_takes_as_much_as_its_form(route: str) -> None:
    takes = set(expected(MATRIX["routes"][route], "POST").values()) - {"405"}
    # Django's admin looks at POST everywhere.
    wanted = (0, Limits().small_form_bytes, Limits().form_bytes)[
        (route in LARGE) + bool(takes or route.startswith("admin/"))
    ]
    assert bodies.most("POST", address(route)) == wanted
    for method in set(METHODS) - {"POST"}:
        assert bodies.most(method, address(route)) == 0


def test_no_address_that_there_is_not_takes_one() -> None:
    for path in (
        "",
        "/",
        "//",
        "/c/",
        "/c/a/actions/new/",
        "/sign-in",
        "/live/",
        "/static/x",
        "*",
        "/sign-in/x/",
    ):
        assert bodies.most("POST", path) == 0
