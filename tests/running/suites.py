"""The suites: each test is in one, by the slowest thing that it needs; and the parts that they are run in.

A part is one pytest process, which starts once what its tests share: a ZooKeeper, brokers, a Spark session.
A suite that takes much longer than the others is cut by folders, always the same ones.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.running.jobs import BIN, NOTED, ROOT, Job

# The markers, the slowest last. What has none of them is pure.
NEEDS: Final = ("zk", "spark", "kafka", "browser")
NAMES: Final = ("pure", *NEEDS)

# The fixtures that start such a thing, once for all of a part. A test that asks for one is in that suite,
# or in a slower one.
STARTED: Final[dict[str, str]] = {
    "zookeeper": "zk",
    "own_server": "zk",
    "ensemble": "zk",
    "spark": "spark",
    "hdfs": "spark",
    "lab": "kafka",
    "mains": "kafka",
    "browser": "browser",
}

# The rules of the house: they look at files alone, so `make check` tries them, and no suite does.
HOUSE: Final = "tests/test_house.py"

# Folders that are a part of their own of a suite; the rest of it is another part. Pure tests start nothing,
# those of commands and of faults what they need themselves: they are what is cut, to fill the lanes.
CUT: Final[dict[str, tuple[str, ...]]] = {
    "pure": ("tests/web",),
    "zk": ("tests/management", "tests/faults"),
}

_NO_TESTS: Final = 5  # pytest's exit code where all that it was given is of other suites


@dataclass(frozen=True)
class Part:
    """Modules of a suite that one process runs; `name` is the suite's, with the folder that is cut off."""

    name: str
    suite: str
    modules: tuple[str, ...]

    def job(self, *, seed: int, notes: Path, goes_on: bool) -> Job:
        """Run it in the order of the seed, the seconds of its tests noted in that directory."""
        markers = expression(self.suite)
        options = ["--no-header", f"--randomly-seed={seed}", f"--hypothesis-seed={seed}"]
        # Each lane has a directory of its own for what is temporary; this one would be of both.
        options += ["-p", "no:cacheprovider", "-p", "tests.running.noting"]
        if not goes_on:
            options.append("--exitfirst")
        return Job(
            self.name,
            (BIN / "pytest", "-m", markers, *options, *self.modules),
            {NOTED: str(notes / f"{self.name.replace('/', '-')}.json")},
            suite=self.suite,
            told=f"{self.name}: pytest -m '{markers}' --randomly-seed={seed}",
            again=f"make test ONLY={self.suite} SEED={seed}",
            is_shown=True,
            well=frozenset({0, _NO_TESTS}),
        )


def slowest(needs: Iterable[str]) -> str:
    """The suite of a test that needs these; what is no need does not count."""
    return max((need for need in needs if need in NEEDS), key=NEEDS.index, default="pure")


def expression(suite: str) -> str:
    """What pytest's -m takes for a suite: "kafka and not browser"."""
    if suite not in NEEDS:
        return " and ".join(f"not {need}" for need in NEEDS)
    slower = NEEDS[NEEDS.index(suite) + 1 :]
    return " and ".join([suite, *(f"not {need}" for need in slower)])


def parts(suite: str, modules: Iterable[str] | None = None) -> list[Part]:
    """The parts of a suite that have a module at all; of all modules, where none are given."""
    known = sorted(all_modules() if modules is None else modules)
    wanted = [module for module in known if suite == "pure" or suite in needs(module)]
    cut = {folder: [one for one in wanted if one.startswith(f"{folder}/")] for folder in CUT.get(suite, ())}
    rest = [one for one in wanted if not any(one in taken for taken in cut.values())]
    found = [Part(f"{suite} {folder}", suite, tuple(taken)) for folder, taken in cut.items() if taken]
    return [*found, *([Part(suite, suite, tuple(rest))] if rest else [])]


def all_modules() -> list[str]:
    """Every test module of the suites, as pytest is told it: "tests/zk/mirror/test_mirror.py"."""
    paths = (path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))
    return sorted(path for path in paths if path != HOUSE)


@functools.cache
def needs(module: str) -> frozenset[str]:
    """The markers that a module's text names: no test of it has another, see `noting`."""
    text = (ROOT / module).read_text(encoding="utf-8")
    return frozenset(need for need in NEEDS if f"mark.{need}" in text)
