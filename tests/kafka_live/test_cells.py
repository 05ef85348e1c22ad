"""Every kind of action on real brokers of every era does what the table of cells says."""

from __future__ import annotations

import time
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.management import call_command

from tests import databases
from tests.kafka_live import cells, scenes, scenes_groups, scenes_moves, scenes_stuck, scenes_topics
from tests.kafka_live.life import Life
from tests.kafka_live.stage import Stage
from tests.lab.cluster import Lab
from tests.lab.releases import RELEASES
from tests.narrowing import known
from tests.serving import Served

CELLS = cells.read()
PLAYED = [cell for cell in CELLS if cell.is_played]
MATRIX = Path(__file__).parent.parent / "cluster" / "plans" / "matrix.toml"
# Each enters its scenes where it is imported.
PLAYS = (scenes_topics, scenes_moves, scenes_stuck, scenes_groups)


class Played(NamedTuple):
    """How an era's cells went, by their kinds, and what went wrong in the life of a topic before them."""

    outcomes: Mapping[str, scenes.Outcome]
    life: Exception | None


@pytest.fixture(scope="session")
def played(
    lab: Lab,
    release: str,
    _migrated: Any,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Played:
    """All that this run has selected of an era, played once; in a database of its own, in all threads."""
    wanted = _selected(request, release)
    kinds = [str(params["kind"]) for params in wanted if "kind" in params]
    site = None if len(kinds) == len(wanted) else request.getfixturevalue("dashboard")
    _, settings = _migrated("sqlite")
    began = time.monotonic()
    brokers = lab.brokers(release)
    with (
        django_db_blocker.unblock(),
        databases.using(settings),
        lab.client(release) as client,
    ):
        call_command("flush", verbosity=0, interactive=False, inhibit_post_migrate=True)
        with Stage(release, lab.address(release), brokers, client, tmp_path_factory.mktemp("cells")) as stage:
            life = _live(stage, site) if site else None
            lived = time.monotonic()
            outcomes = scenes.play(stage, kinds)
            lab.brokers(release)  # whatever a scene that broke has left
            stage.clear()
    told = _said(release, outcomes, lived - began, time.monotonic() - lived)
    with known(request.config.pluginmanager.get_plugin("capturemanager")).global_and_fixture_disabled():
        print("", told, sep="\n")  # noqa: T201 - what `make eras` is for
    return Played(outcomes, life)


def _selected(request: pytest.FixtureRequest, release: str) -> list[Mapping[str, object]]:
    """The parameters of this run's tests of an era here."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    ours = [
        item.callspec.params for item in items if item.path == Path(__file__) and hasattr(item, "callspec")
    ]
    return [params for params in ours if params["release"] == release]


def _live(stage: Stage, site: Served) -> Exception | None:
    """The cluster is still empty: so is the list of what is wrong with it."""
    try:
        Life(stage, site).live()
    except Exception as fault:  # told by the test of that life; the cells go on
        return fault
    return None


def _said(era: str, outcomes: Mapping[str, scenes.Outcome], lived_s: float, played_s: float) -> str:
    """How long an era took, and its kinds that took longest."""
    told = Counter(outcome.told.partition(":")[0] for outcome in outcomes.values())
    absent = sum(cell.era == era and cell.told.startswith(cells.ABSENT) for cell in CELLS)
    counted = ", ".join(f"{number} {what}" for what, number in sorted(told.items()))
    longest = sorted(outcomes, key=lambda kind: -outcomes[kind].seconds)[:5]
    slow = ", ".join(f"{kind} {outcomes[kind].seconds:.0f} s" for kind in longest)
    return (
        f"Kafka {era}: start and the life of a topic {lived_s:.0f} s; {counted}, {absent} not in this era, "
        f"{played_s:.0f} s ({slow})"
    )


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
