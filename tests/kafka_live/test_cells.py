"""Every kind of action on real brokers of every era does what the table of cells says."""

from __future__ import annotations

import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests import databases
from tests.kafka_live import cells, scenes, scenes_groups, scenes_moves, scenes_stuck, scenes_topics
from tests.kafka_live.cells import Cell
from tests.kafka_live.life import Life
from tests.kafka_live.stage import BROKERS, Stage, settings
from tests.lab.cluster import Lab
from tests.lab.releases import RELEASES
from tests.serving import starter
from zkdash.demo.zookeeper import Server

CELLS = cells.read()
PLAYED = [cell for cell in CELLS if cell.is_played]
MATRIX = Path(__file__).parent.parent / "cluster" / "plans" / "matrix.toml"
# Each enters its scenes where it is imported.
PLAYS = (scenes_topics, scenes_moves, scenes_stuck, scenes_groups)


class Plays:
    """Plays an era when the first of its cells is asked for: all those that this run has selected."""

    def __init__(
        self, lab: Lab, others: Lab, folder: Path, wanted: list[Cell], tell: Callable[[str], None]
    ) -> None:
        self._lab = lab
        self._others = others
        self._folder = folder
        self._wanted = wanted
        self._tell = tell
        self._played: dict[str, Mapping[str, scenes.Outcome]] = {}
        self._lives: dict[str, Exception | None] = {}

    def outcome(self, cell: Cell) -> scenes.Outcome:
        return self._of(cell.era)[cell.kind]

    def life(self, era: str) -> Exception | None:
        """What went wrong in the life of a topic that came before the era's cells."""
        self._of(era)
        return self._lives[era]

    def _of(self, era: str) -> Mapping[str, scenes.Outcome]:
        if era not in self._played:
            kinds = [one.kind for one in self._wanted if one.era == era]
            try:
                self._played[era] = self._play(era, kinds)
            except Exception as fault:  # all cells of the era fail by it
                self._played[era] = dict.fromkeys(kinds, scenes.Outcome("broken", fault, 0.0))
                self._lives.setdefault(era, fault)
        return self._played[era]

    def _play(self, era: str, kinds: list[str]) -> Mapping[str, scenes.Outcome]:
        self._others.stop()
        began = time.monotonic()
        brokers = self._lab.brokers(era, BROKERS)
        try:
            with (
                self._lab.client(era) as client,
                Stage(era, self._lab.address(era), brokers, client, self._folder / era) as stage,
            ):
                self._lives[era] = self._live(era, stage)
                outcomes = scenes.play(stage, kinds)
        finally:
            self._lab.stop()
        self._say(era, outcomes, time.monotonic() - began)
        return outcomes

    def _live(self, era: str, stage: Stage) -> Exception | None:
        """The cluster is still empty: so is the list of what is wrong with it."""
        began = time.monotonic()
        folder = self._folder / f"life-{era}"
        folder.mkdir(parents=True)
        try:
            with starter(folder) as start:
                Life(stage, start(ZKDASH_ZOOKEEPER=self._lab.address(era))).live()
        except Exception as fault:  # told by the test of that life; the cells go on
            return fault
        self._tell(f"Kafka {era}: the life of a topic, {time.monotonic() - began:.0f} s")
        return None

    def _say(self, era: str, outcomes: Mapping[str, scenes.Outcome], seconds: float) -> None:
        """One line an era, and the kinds that took longest."""
        told = Counter(outcome.told.partition(":")[0] for outcome in outcomes.values())
        absent = sum(cell.era == era and cell.told.startswith(cells.ABSENT) for cell in CELLS)
        counted = ", ".join(f"{number} {what}" for what, number in sorted(told.items()))
        longest = sorted(outcomes, key=lambda kind: -outcomes[kind].seconds)[:3]
        slow = ", ".join(f"{kind} {outcomes[kind].seconds:.0f} s" for kind in longest)
        self._tell(f"Kafka {era}: {counted}, {absent} not in this era, {seconds:.0f} s ({slow})")


@pytest.fixture(scope="module")
def rows(_migrated: Any, django_db_blocker: Any) -> Iterator[None]:
    """A database of its own for the queue, in all threads, as long as eras are played."""
    _, settings = _migrated("sqlite")
    with django_db_blocker.unblock(), databases._using(settings):
        call_command("flush", verbosity=0, interactive=False, inhibit_post_migrate=True)
        yield


@pytest.fixture(scope="module")
def plays(
    rows: None,
    lab: Lab,
    zookeeper: Server,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Plays]:
    folder = tmp_path_factory.mktemp("cells")
    own = Lab(zookeeper.address, folder, name="cells", properties=settings)
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    wanted = [
        item.callspec.params["cell"]
        for item in items
        if item.module is request.module and "cell" in item.fixturenames
    ]
    told: list[str] = []
    yield Plays(own, lab, folder / "tools", wanted, told.append)
    own.stop()
    with request.config.pluginmanager.get_plugin("capturemanager").global_and_fixture_disabled():
        print("", *told, sep="\n")  # noqa: T201 - what `make eras` is for


@pytest.mark.kafka
@pytest.mark.zk
@pytest.mark.parametrize("cell", PLAYED, ids=lambda cell: f"{cell.era}-{cell.kind}")
def test_an_action_on_real_brokers_does_what_its_cell_says(cell: Cell, plays: Plays) -> None:
    outcome = plays.outcome(cell)
    if outcome.fault:
        raise outcome.fault
    assert outcome.told.startswith(cell.told)


@pytest.mark.kafka
@pytest.mark.zk
@pytest.mark.parametrize("era", cells.lives())
def test_pages_agree_with_kafkas_own_tools_through_the_life_of_a_topic(era: str, plays: Plays) -> None:
    """A topic is made, configured, grown and moved, a broker dies and returns, the topic is deleted."""
    fault = plays.life(era)
    if fault:
        raise fault


def test_every_kind_has_a_cell_for_every_era_and_only_one() -> None:
    assert sorted((cell.kind, cell.era) for cell in CELLS) == sorted(
        (kind, era) for kind in scenes.ALIVE | scenes.DEAD for era in RELEASES
    )


def test_every_cell_says_done_or_why_not() -> None:
    for cell in CELLS:
        assert cell.told == "done" or cell.told.startswith(("refused: ", cells.ABSENT)), cell


def test_what_is_played_is_what_the_table_of_plans_says() -> None:
    """A plan that has steps there is done here, and one that is refused there is refused here."""
    told = {(cell.kind, cell.era): cell.told for cell in CELLS}
    for kind, row in tomllib.loads(MATRIX.read_text()).items():
        for eras, planned in row.items():
            for era in set(eras.split(", ")).intersection(RELEASES):
                here = told[kind, era]
                assert here.startswith(cells.ABSENT) or (here == "done") == isinstance(planned, list), (
                    kind,
                    era,
                )
