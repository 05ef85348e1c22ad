"""What a run has selected of an era, played once: the life of a topic, then the scenes of its actions."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest
from django.core.management import call_command

from tests import databases, full
from tests.kafka_live import cells, scenes, scenes_groups, scenes_moves, scenes_stuck, scenes_topics
from tests.kafka_live.life import Life
from tests.kafka_live.moments import Moments
from tests.kafka_live.stage import Stage
from tests.lab.cluster import Lab
from tests.live.past.story import Dump
from tests.narrowing import known
from tests.serving import Served

# Each enters its scenes where it is imported.
PLAYS = (scenes_topics, scenes_moves, scenes_stuck, scenes_groups)


class Played(NamedTuple):
    """How an era's cells went, by their kinds, and what went wrong in the life of a topic before them.

    `address` is where the cluster's ZooKeeper is, `dumps` the moments that a client read meanwhile, where the
    run compares the past with them.
    """

    outcomes: Mapping[str, scenes.Outcome]
    life: Exception | None
    address: str
    dumps: Sequence[Dump]


@pytest.fixture(scope="session")
def played(
    lab: Lab,
    release: str,
    _migrated: Any,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Played:
    """All that this run has selected of an era; in a database of its own, in all threads."""
    wanted = _selected(request, release)
    kinds = [str(params["kind"]) for params in wanted if "kind" in params]
    site = None if len(kinds) == len(wanted) else request.getfixturevalue("dashboard")
    _, settings = _migrated("sqlite")
    began = time.monotonic()
    brokers = lab.brokers(release)
    with ExitStack() as stack:
        stack.enter_context(django_db_blocker.unblock())
        stack.enter_context(databases.using(settings))
        client = stack.enter_context(lab.client(release))
        moments = None
        if site is not None and release in cells.ALWAYS:
            moments = Moments(client, site, request.getfixturevalue("history"))
        call_command("flush", verbosity=0, interactive=False, inhibit_post_migrate=True)
        stage = Stage(release, lab.address(release), brokers, client, tmp_path_factory.mktemp("cells"))
        if moments is not None:
            stage.moment = moments.keep
        with stage:
            life = _live(stage, site) if site else None
            lived = time.monotonic()
            if not full.is_full():
                stage.moment = lambda _name: None  # commits are recorded once a minute
            outcomes = scenes.play(stage, kinds)
            lab.brokers(release)  # whatever a scene that broke has left
            stage.clear()
    told = _said(release, outcomes, lived - began, time.monotonic() - lived)
    with known(request.config.pluginmanager.get_plugin("capturemanager")).global_and_fixture_disabled():
        print("", told, sep="\n")  # noqa: T201 - what `make eras` is for
    return Played(outcomes, life, lab.address(release), moments.dumps if moments else ())


def _selected(request: pytest.FixtureRequest, release: str) -> list[Mapping[str, object]]:
    """The parameters of this run's tests that look at what was played of an era."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    ours = [
        item.callspec.params for item in items if "played" in item.fixturenames and hasattr(item, "callspec")
    ]
    return [params for params in ours if params.get("release") == release]


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
    absent = sum(cell.era == era and cell.told.startswith(cells.ABSENT) for cell in cells.read())
    counted = ", ".join(f"{number} {what}" for what, number in sorted(told.items()))
    longest = sorted(outcomes, key=lambda kind: -outcomes[kind].seconds)[:5]
    slow = ", ".join(f"{kind} {outcomes[kind].seconds:.0f} s" for kind in longest)
    return (
        f"Kafka {era}: start and the life of a topic {lived_s:.0f} s; {counted}, {absent} not in this era, "
        f"{played_s:.0f} s ({slow})"
    )
