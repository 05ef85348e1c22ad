"""Everything that must hold, cheapest first: a line a step with its seconds; the first failure ends it.

`make test` calls it. Tests run in random order; the seed stands in the line of the step that used it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

# Each test once, in the suite of the slowest thing that it needs.
SUITES = (
    "not zk and not spark and not kafka and not browser",
    "zk and not spark and not kafka and not browser",
    "spark and not kafka and not browser",
    "kafka and not browser",
    "browser",
)

# A request must end soon where there is no network: then nothing is known, and the line says so.
_AUDIT = ("--local", "--format", "json", "--progress-spinner", "off", "--timeout", "2")
_BANDIT = ("--configfile", "pyproject.toml", "--recursive", "zkdash", "manage.py")
# As docs/operating.md has it behind a proxy that speaks TLS.
SHIPPED = {"ZKDASH_HTTPS": "1", "ZKDASH_PROXIES": "127.0.0.1", "ZKDASH_DEBUG": "0"}

NO_TESTS_COLLECTED = 5  # pytest's exit code


class Step(NamedTuple):
    """One command, and what its line calls it. Only pytest's output is shown where all is well.

    `says` words what a command that ended well has printed, for its line.
    """

    told: str
    command: list[str | Path]
    environ: Mapping[str, str] = {}
    says: Callable[[str], str] = lambda _printed: "ok"

    @property
    def is_pytest(self) -> bool:
        return self.command[0] == BIN / "pytest"


def steps(seed: int) -> list[Step]:
    """Return all steps in their order."""
    python = BIN / "python"
    return [
        Step("ruff format --check", [BIN / "ruff", "format", "--check", "."]),
        Step("ruff check", [BIN / "ruff", "check", "."]),
        Step("mypy --strict zkdash", [BIN / "mypy", "--strict", "zkdash"]),
        Step("lint-imports", [BIN / "lint-imports", "--no-logo"]),
        Step("manage.py check", [python, "manage.py", "check", "--fail-level", "WARNING"]),
        Step("bandit", [BIN / "bandit", "--quiet", "--severity-level", "medium", *_BANDIT]),
        Step("pip-audit", [BIN / "pip-audit", *_AUDIT], says=audited),
        Step(
            "manage.py check --deploy",
            [python, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
            SHIPPED,
        ),
        Step(
            "manage.py makemigrations --check",
            [python, "manage.py", "makemigrations", "--check", "--dry-run"],
        ),
        *(_tests(markers, seed) for markers in SUITES),
    ]


def _tests(markers: str, seed: int) -> Step:
    told = f"pytest -m '{markers}' --randomly-seed={seed}"
    return Step(told, [BIN / "pytest", "-m", markers, f"--randomly-seed={seed}", "--no-header"])


def run(step: Step) -> str | None:
    """Run one step; return what its line says, None where it failed."""
    output = None if step.is_pytest else subprocess.PIPE
    done = subprocess.run(
        step.command,
        cwd=ROOT,
        env={**os.environ, **step.environ},
        check=False,
        text=True,
        stdout=output,
        stderr=subprocess.STDOUT,
    )
    if step.is_pytest and done.returncode == NO_TESTS_COLLECTED:
        return "no test yet"
    if done.returncode:
        print(done.stdout or "", end="")
        return None
    return step.says(done.stdout or "")


def audited(printed: str) -> str:
    """What pip-audit's JSON tells where it found nothing: "ok" where every package could be asked about."""
    found = re.search(r"^{.*}$", printed, re.MULTILINE)
    packages = json.loads(found[0])["dependencies"] if found else []
    asked = sum("vulns" in one for one in packages)
    return "ok" if packages and asked == len(packages) else f"unknown: {asked} of {len(packages)} asked"


def main() -> int:
    began = time.monotonic()
    for step in steps(seed=int(time.time())):
        start = time.monotonic()
        said = run(step)
        print(f"{said or 'FAILED':<11} {time.monotonic() - start:6.1f} s  {step.told}", flush=True)
        if not said:
            return 1
    print(f"all well    {time.monotonic() - began:6.1f} s  in total", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
