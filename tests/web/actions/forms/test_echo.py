"""What a form that was refused sends back: never the megabytes that it was sent."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.web import states
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions import forms
from zkdash.web.actions.forms.base import MOST_ECHOED

MOST_BYTES = 512 * 1024
WORD, LINES = "x" * 300_000, "<&'\"\n" * 60_000


def fields(kind: str) -> list[str]:
    return list(forms.BY_KIND[kind](states.snapshot(states.healthy()), {}).fields)


@pytest.mark.parametrize("text", [WORD, LINES], ids=["word", "lines"])
@pytest.mark.parametrize("kind", sorted(forms.BY_KIND))
def test_a_refused_form_is_short_whatever_was_typed(
    operator: Client, demo: Snapshot, kind: str, text: str
) -> None:
    names = fields(kind)
    for some in (names[: len(names) // 2], names[len(names) // 2 :]):
        answer = operator.post(f"/c/demo/actions/new/{kind}/", {"do": "preview", **dict.fromkeys(some, text)})
        assert answer.status_code == 422
        assert len(answer.content) < MOST_BYTES


@pytest.mark.parametrize("kind", sorted(forms.BY_KIND))
def test_nor_does_one_that_is_only_filled_show_what_it_cannot_take(
    operator: Client, demo: Snapshot, kind: str
) -> None:
    given = dict.fromkeys((*fields(kind), *forms.BY_KIND[kind].names), LINES)
    answer = operator.post(f"/c/demo/actions/new/{kind}/", given)
    assert answer.status_code == 200
    assert len(answer.content) < MOST_BYTES


def refused(operator: Client, **fields: Any) -> str:
    answer = operator.post("/c/demo/actions/new/elect-preferred/", {"do": "preview", **fields})
    assert answer.status_code == 422
    return answer.content.decode()


def test_what_is_short_is_shown_again_and_what_is_long_is_asked_for_anew(
    operator: Client, demo: Snapshot
) -> None:
    short = "y" * MOST_ECHOED
    told = refused(operator, which="chosen", topics=short, partitions="z" * (MOST_ECHOED + 1))
    assert short in told
    assert "z" * 100 not in told
    assert "65,537 characters were given, too many to be shown again. The field is empty now" in told
