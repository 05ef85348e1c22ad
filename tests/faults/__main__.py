"""`make faults`: every fault in full numbers, part by part; `--only kills` for one of them.

A part that was broken off goes on where it was; `make clean` forgets what was done.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from tests.faults.rounds import PARTS, RESUMED

NOTHING_LEFT = 5  # pytest's word for no test collected


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, help="one part instead of all")
    only = parser.parse_args().only
    failed = [part for part in ([only] if only else PARTS) if not _passes(part)]
    if failed:
        sys.stderr.write(f"Failed: {', '.join(failed)}. The seed is in the test's name.\n")
    return bool(failed)


def _passes(part: str) -> bool:
    """In order, one after the other: what is counted are the rounds up to the first that fails."""
    options = (
        "-v",
        "--exitfirst",
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.faults.counting",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *PARTS[part]],
        env={**os.environ, "FULL": "1", RESUMED: "1"},
        check=False,
    )
    return done.returncode in {0, NOTHING_LEFT}


if __name__ == "__main__":
    sys.exit(main())
