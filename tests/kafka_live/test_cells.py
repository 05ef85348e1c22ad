"""Every kind of action on real brokers of every era does what the table of cells says."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.kafka_live import cells, scenes
from tests.kafka_live.playing import Played
from tests.lab.releases import RELEASES

CELLS = cells.read()
PLAYED = [cell for cell in CELLS if cell.is_played]
MATRIX = Path(__file__).parent.parent / "cluster" / "plans" / "matrix.toml"


@pytest.mark.kafka
@pytest.mark.zk
@pytest.mark.parametrize(
    ("release", "kind"),
    [(cell.era, cell.kind) for cell in PLAYED],
    indirect=["release"],
    scope="session",
    ids=lambda told: told,
)
def test_an_action_on_real_brokers_does_what_its_cell_says(release: str, kind: str, played: Played) -> None:
    (cell,) = (cell for cell in PLAYED if (cell.era, cell.kind) == (release, kind))
    outcome = played.outcomes[kind]
    if outcome.fault:
        raise outcome.fault
    assert outcome.told.startswith(cell.told)


@pytest.mark.kafka
@pytest.mark.zk
@pytest.mark.parametrize("release", cells.lives(), indirect=True, scope="session")
def test_pages_agree_with_kafkas_own_tools_through_the_life_of_a_topic(release: str, played: Played) -> None:
    """A topic is made, configured, grown and moved, a broker dies and returns, the topic is deleted."""
    if played.life:
        raise played.life


def test_every_kind_has_a_cell_for_every_era_and_only_one() -> None:
    assert sorted((cell.kind, cell.era) for cell in CELLS) == sorted(
        (kind, era) for kind in scenes.ALIVE | scenes.DEAD for era in RELEASES
    )


def test_every_cell_says_done_or_why_not() -> None:
    for cell in CELLS:
        assert cell.told == "done" or cell.told.startswith(("refused: ", cells.ABSENT)), cell


# What only a stuck controller leaves lying, and a sound one takes away before anybody can act: carried out on
# a real ZooKeeper by tests/web/checks/test_offers.py, on no real broker.
UNPLAYED = {
    "clear the mark of an absent topic",
    "clear the mark of a topic that is there",
    "revert a move of what is not there",
    "revert a move that no controller took up",
}


def test_what_is_played_is_what_the_table_of_plans_says() -> None:
    """A plan that has steps there is done here, and one that is refused there is refused here."""
    told = {(cell.kind, cell.era): cell.told for cell in CELLS}
    table = tomllib.loads(MATRIX.read_text())
    assert table.keys() - {kind for kind, _ in told} >= UNPLAYED
    for kind, row in table.items():
        if kind in UNPLAYED:
            continue
        for eras, planned in row.items():
            for era in set(eras.split(", ")).intersection(RELEASES):
                here = told[kind, era]
                assert here.startswith(cells.ABSENT) or (here == "done") == isinstance(planned, list), (
                    kind,
                    era,
                )
