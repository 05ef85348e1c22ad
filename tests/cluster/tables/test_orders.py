"""An order that is carried on is the one that would be made anew, and asks only for what changed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import immutables
import pytest

from zkdash.cluster.tables import orders
from zkdash.cluster.tables.orders import Orders
from zkdash.cluster.tables.query import in_order

Things = Mapping[str, object]


class _Table:
    """A table of things with a number each, None for some, and what it was asked for."""

    def __init__(self, numbers: Mapping[str, int | None]) -> None:
        self.things: immutables.Map[str, _Thing] = immutables.Map(
            {name: _Thing(number) for name, number in numbers.items()}
        )
        self.beside: immutables.Map[str, _Thing] = immutables.Map()
        self.asked: list[str] = []

    def number(self, name: str) -> int | None:
        things = self.beside if name in self.beside else self.things
        return things[name].number if name in things else None

    def numbers(self, names: Sequence[str]) -> Iterable[Any]:
        self.asked += names
        return map(self.number, names)

    def anew(self, *, falls: bool) -> list[str]:
        return in_order(sorted(self.things), self.number, falls=falls)

    def ordered(self, kept: Orders, *, falls: bool) -> Sequence[str]:
        return kept.of("number", self.numbers, falls=falls, names=(self.things,), beside=(self.beside,))


class _Thing:
    def __init__(self, number: int | None) -> None:
        self.number = number


def _some(random_: random.Random) -> int | None:
    number: int | None = random_.choice((None, 0, 1, 2, 3, 4, 5))
    return number


@pytest.mark.parametrize("falls", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_an_order_that_is_carried_on_is_the_one_made_anew(seed: int, falls: bool) -> None:
    chosen = random.Random(seed)  # noqa: S311 - of a test
    kept, table = Orders(), _Table({f"n{number:03}": _some(chosen) for number in range(200)})
    for _ in range(60):
        for _ in range(chosen.randrange(5)):
            name = f"n{chosen.randrange(220):03}"
            match chosen.randrange(4):
                case 0 if name in table.things:
                    table.things = table.things.delete(name)
                case 1:
                    table.beside = table.beside.set(name, _Thing(_some(chosen)))
                case 2 if name in table.beside:
                    table.beside = table.beside.delete(name)
                case _:
                    table.things = table.things.set(name, _Thing(_some(chosen)))
        assert table.ordered(kept, falls=falls) == table.anew(falls=falls)


def test_a_carried_order_asks_for_what_changed_alone() -> None:
    kept, table = Orders(), _Table({f"n{number:03}": number for number in range(1_000)})
    table.ordered(kept, falls=False)
    for falls in (False, True):
        table.ordered(kept, falls=falls)
    table.asked.clear()
    table.things = table.things.set("n500", _Thing(-1)).set("new", _Thing(-2)).delete("n600")
    table.beside = table.beside.set("n700", _Thing(-3))
    found = table.ordered(kept, falls=False)
    assert list(found[:4]) == ["n700", "new", "n500", "n000"]
    assert "n600" not in found
    assert sorted(table.asked) == ["n500", "n700", "new"]


def test_where_much_changed_it_is_sorted_anew() -> None:
    kept, table = Orders(), _Table({f"n{number:03}": number for number in range(1_000)})
    table.ordered(kept, falls=False)
    table.asked.clear()
    table.things = immutables.Map({name: _Thing(1) for name in table.things})
    assert table.ordered(kept, falls=False) == sorted(table.things)
    assert table.asked == sorted(table.things)


def test_what_sorts_as_it_did_leaves_the_order_as_it_is() -> None:
    kept, table = Orders(), _Table({f"n{number:03}": number for number in range(100)})
    before = table.ordered(kept, falls=True)
    table.things = table.things.set("n050", _Thing(50))
    assert table.ordered(kept, falls=True) is before


def test_no_more_than_so_many_orders_are_kept() -> None:
    kept, table = Orders(), _Table({"a": 1, "b": 2})

    def asks(key: str) -> bool:
        table.asked.clear()
        kept.of(key, table.numbers, falls=False, names=(table.things,))
        return bool(table.asked)

    keys = [f"key {number}" for number in range(orders.MOST + 1)]
    assert all(asks(key) for key in keys)
    assert not asks(keys[-1])
    assert asks(keys[0])
