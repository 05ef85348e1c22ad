"""Tools of every release in one JVM: what they print and end with, and one that does not end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.mains import LIMIT_S, Mains
from tests.lab.releases import RELEASES
from zkdash.demo.runtime import ports

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def mains(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mains]:
    mains = Mains(tmp_path_factory.mktemp("tools"))
    yield mains
    mains.stop()


@pytest.mark.parametrize("release", RELEASES)
def test_a_tool_that_refuses_ends_with_1_and_says_why_and_the_jvm_lives_on(
    mains: Mains, release: str
) -> None:
    told = RELEASES[release]
    for _ in range(2):
        exits = mains.run(told, told.topic_command, [])
        assert exits.status == 1
        assert "REQUIRED" in exits.err
        throws = mains.run(told, told.topic_command, ["--no-such-option"])
        assert throws.status == 1
        assert "no-such-option" in throws.err + throws.out


def test_a_tool_that_does_not_end_is_given_up_and_the_next_one_runs(tmp_path: Path) -> None:
    mains = Mains(tmp_path, limit_s=10.0)  # for the first words to a JVM too
    told = RELEASES["1.1.1"]
    nobody = f"127.0.0.1:{ports.free()[0]}"
    try:
        with pytest.raises(TimeoutError, match="did not end within 10 s"):
            mains.run(told, told.topic_command, ["--zookeeper", nobody, "--list"])
        mains._limit_s = LIMIT_S  # the next JVM has to start, and may take its time
        assert mains.run(told, told.topic_command, ["--no-such-option"]).status == 1
    finally:
        mains.stop()
