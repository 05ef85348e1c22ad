"""Every kind of action in every era: the steps that it takes there, or why it is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.cluster.plans import cells, worlds
from zkdash.cluster.plans.values import MOST_BYTES, MOST_OPERATIONS

TABLE = tomllib.loads((Path(__file__).parent / "matrix.toml").read_text())
CELLS = [
    (kind, era, cell) for kind, row in TABLE.items() for eras, cell in row.items() for era in eras.split(", ")
]


def test_every_kind_has_a_cell_for_every_era_and_only_one() -> None:
    assert sorted((kind, era) for kind, era, _ in CELLS) == sorted(
        (kind, era) for kind in cells.ROWS for era in worlds.ERAS
    )


@pytest.mark.parametrize(("kind", "era", "cell"), CELLS, ids=lambda value: str(value)[:30])
def test_a_plan_is_what_the_table_says(kind: str, era: str, cell: str | list[str]) -> None:
    tree, plan = cells.planned(kind, era)
    found = cells.told(plan)
    if isinstance(cell, str):
        assert isinstance(found, str)
        assert found.startswith(cell)
        assert plan.steps == ()
        return
    assert found == cell
    for step in plan.steps:
        assert step.size < MOST_BYTES
        assert len(step.writes) < MOST_OPERATIONS
    tree.run(plan)


@pytest.mark.parametrize("kind", cells.ROWS)
def test_without_a_controller_nothing_is_asked_of_one(kind: str) -> None:
    asked, change = cells.ROWS[kind]
    tree = worlds.world("1.1.1")
    if change:
        change(tree)
    del tree.znodes["/controller"]
    plan = tree.plan(asked(tree))
    if "group" in kind or "offsets" in kind:
        assert "controller" not in " ".join(plan.refusals)
    else:
        assert plan.refusals[0].startswith("There is no controller")
