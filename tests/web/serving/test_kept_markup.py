"""HTML is kept of equal blocks, never of others, and never more than the bound."""

from __future__ import annotations

from zkdash.live.parts import Block
from zkdash.web.serving.kept_markup import KeptMarkup


class Renderings:
    """What was rendered, in its order."""

    def __init__(self) -> None:
        self.made: list[tuple[object, bool]] = []

    def __call__(self, block: Block, oob: bool) -> str:
        self.made.append((block.values, oob))
        return f"{block.values}".ljust(10, ".")


def block(values: object) -> Block:
    return Block("b", "b.html", values, is_kept=True)


def test_an_equal_block_is_rendered_once_and_another_one_anew() -> None:
    kept, render = KeptMarkup(most_characters=100), Renderings()
    assert kept.get(block((1, "a")), False, render) == kept.get(block((1, "a")), False, render)
    assert render.made == [((1, "a"), False)]
    kept.get(block((2, "a")), False, render)
    kept.get(block((1, "a")), True, render)
    assert render.made == [((1, "a"), False), ((2, "a"), False), ((1, "a"), True)]


def test_what_was_asked_for_longest_ago_is_forgotten_first() -> None:
    kept, render = KeptMarkup(most_characters=25), Renderings()
    for values in ("a", "b", "a", "c", "a", "b"):
        kept.get(block(values), False, render)
    assert [values for values, _ in render.made] == ["a", "b", "c", "b"]


def test_one_larger_than_the_bound_is_answered_and_not_kept() -> None:
    kept, render = KeptMarkup(most_characters=5), Renderings()
    assert kept.get(block("a"), False, render) == "a........."
    assert kept.get(block("a"), False, render) == "a........."
    assert len(render.made) == 2
