"""All that must hold: the checks, then every test, in lanes side by side; the first failure ends it.

`make test` and `make check` call it; CONTRIBUTING.md tells what else it can be asked for. Tests run in random
order, by a seed that the first line and the last tell.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests import full
from tests.running import changed, checks, report, seconds, suites
from tests.running.jobs import ROOT, Job
from tests.running.lanes import Done, Lanes

CHECK = "check"
VAR = ROOT / "var" / "tests"
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; return 0 where all of it is well."""
    began = time.monotonic()
    asked = _parser().parse_args(arguments)
    modules = _changed() if asked.changed else None
    print(f"SEED={asked.seed}, {asked.lanes} lanes{', FULL=1' if full.is_full() else ''}", flush=True)
    VAR.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="run-", dir=VAR) as directory:
        lanes = Lanes(Path(directory), count=asked.lanes, goes_on=asked.keep_going)
        try:
            is_well = lanes.run(_jobs(asked, modules, Path(directory)))
        except KeyboardInterrupt:
            print("interrupted, and all of it has ended", flush=True)
            return INTERRUPTED
        if modules is None and not full.is_full():
            _keep(lanes.done)
        if is_well or asked.keep_going:
            for line in report.lines(lanes.done):
                print(line)
    for again in dict.fromkeys(done.job.again for done in lanes.done if not done.is_well):
        print(f"again:      {again}")
    told = "all well" if is_well else "FAILED"
    print(f"{told:<11} {time.monotonic() - began:6.1f} s  in total, SEED={asked.seed}", flush=True)
    return 0 if is_well else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.run", description=__doc__)
    names = (CHECK, *suites.NAMES)
    parser.add_argument("--only", type=_names, default=(), help=f"of {', '.join(names)}; a comma between two")
    parser.add_argument("--changed", action="store_true", help="tests that reach what differs from main")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the run that is repeated")
    parser.add_argument(
        "--lanes",
        type=int,
        choices=range(1, 17),
        metavar="LANES",
        default=(os.cpu_count() or 1) + 1,  # most tests wait for a server: one lane a core leaves it idle
        help="how many jobs run at a time (default: one more than there are cores)",
    )
    parser.add_argument("--keep-going", action="store_true", help="tell all failures, not the first only")
    return parser


def _names(told: str) -> tuple[str, ...]:
    names = tuple(told.split(","))
    if unknown := set(names) - {CHECK, *suites.NAMES}:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(sorted(unknown))}")
    return names


def _changed() -> list[str] | None:
    """The test modules that what differs from main may make fail; None for all of them."""
    differing = changed.since()
    if differing is None:
        print(f"all tests: git knows no branch {changed.MAIN}")
        return None
    try:
        modules = changed.reaching(differing)
    except changed.UnplacedError as error:
        print(f"all tests: nobody can tell what {error} may make fail")
        return None
    print(
        f"{len(modules)} of {len(suites.all_modules())} test modules reach what differs from {changed.MAIN}"
    )
    return modules


def _jobs(asked: argparse.Namespace, modules: Sequence[str] | None, notes: Path) -> list[Job]:
    """The checks in their order, then the parts of the suites, the longest first."""
    jobs = checks.jobs() if not asked.only or CHECK in asked.only else []
    if not asked.only and modules is None:
        jobs.append(checks.audit())
    wanted = [suite for suite in suites.NAMES if not asked.only or suite in asked.only]
    parts = [part for suite in wanted for part in suites.parts(suite, modules)]
    parts.sort(key=lambda part: seconds.of(part.name), reverse=True)
    return jobs + [part.job(seed=asked.seed, notes=notes, goes_on=asked.keep_going) for part in parts]


def _keep(done: Iterable[Done]) -> None:
    """Remember how long whole parts took."""
    for one in done:
        if one.job.suite and one.is_well:
            seconds.keep(one.job.name, one.seconds)


if __name__ == "__main__":
    sys.exit(main())
