"""`python -m bench`: run the rows, print a JSON line each and a table of all at the end."""

from __future__ import annotations

import argparse
import os
import sys

from bench import (
    checks,
    core,
    fan_out,
    first_load,
    groups,
    idle,
    large,
    latency,
    log_dump,
    month,
    pages,
    past,
    pipeline,
    reconnect,
    recorder,
    result,
    scale,
    start,
    txnlog,
    update_cost,
)
from bench.side import SideFailedError
from bench.sizes import SIZES
from tests.lab.zookeeper import BUNDLED, RELEASES

ROWS = {
    "first_load": first_load.run,
    "update_cost": update_cost.run,
    "checks": checks.run,
    "pages": pages.run,
    "groups": groups.run,
    "reconnect": reconnect.run,
    "latency": latency.run,
    "fan_out": fan_out.run,
    "txnlog": txnlog.run,
    "pipeline": pipeline.run,
    "recorder": recorder.run,
    "log_dump": log_dump.run,
    "start": start.run,
    "idle": idle.run,
    "scale": scale.run,
    "large": large.run,
    "past": past.run,
    "month": month.run,
}


def main() -> int:
    options = _options()
    results = []
    for name in options.only:
        before = core.slowness()
        try:
            found = ROWS[name](SIZES[options.size]._replace(zookeeper=options.zookeeper))
        except SideFailedError as error:
            sys.stderr.write(f"{name}: {error}\n")
            return 2
        found = found.on_core((before + core.slowness()) / 2)
        sys.stdout.write(found.json + "\n")
        sys.stdout.flush()
        results.append(found)
    sys.stdout.write(result.table(results) + "\n")
    slower = any(not goal.is_kept for found in results for goal in found.goals)
    return 1 if options.check and slower else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure zkdash beside baselines of the same run."
    )
    parser.add_argument(
        "--only",
        type=_rows,
        default=os.environ.get("ONLY") or ",".join(ROWS),
        metavar="ROW,…",
        help=f"rows to run, of {', '.join(ROWS)} (default: all; also ONLY= in the environment)",
    )
    parser.add_argument(
        "--size",
        choices=SIZES,
        default=os.environ.get("SIZE") or "reference",
        help="reference, or small for a quick look (also SIZE= in the environment)",
    )
    parser.add_argument(
        "--zookeeper",
        type=_release,
        default=os.environ.get("ZK") or BUNDLED,
        metavar="RELEASE",
        help=f"what serves the row first_load, of {', '.join(RELEASES)} (also ZK= in the environment)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="exit with 1 where a goal is missed by more than a decision keeps it to",
    )
    options = parser.parse_args()
    if options.zookeeper != BUNDLED and options.only != ["first_load"]:
        parser.error(f"ZooKeeper {options.zookeeper} serves first_load only: add ONLY=first_load")
    return options


def _release(text: str) -> str:
    for release in RELEASES:
        if release.startswith(text):
            return release
    raise argparse.ArgumentTypeError(f"no ZooKeeper {text!r}; there are {', '.join(RELEASES)}")


def _rows(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in ROWS]
    if unknown or not names:
        raise argparse.ArgumentTypeError(
            f"no row {', '.join(unknown) or text!r}; there are {', '.join(ROWS)}"
        )
    return names


if __name__ == "__main__":
    sys.exit(main())
