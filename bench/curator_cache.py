"""The baseline of the first load in Java: Curator's CuratorCache over the whole tree.

Its jars, and ZooKeeper's client, are among PySpark's. Java compiles the one source file as it starts it,
which needs a JDK and is not counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

from bench import side, usage
from zkdash import java
from zkdash.demo.zookeeper import jvm

_SOURCE: Final = Path(__file__).with_name("CuratorCacheSide.java")
_HEAP_MB: Final = 2048


def is_possible() -> bool:
    """Whether the Java at hand can compile."""
    modules = subprocess.run([java.find().path, "--list-modules"], capture_output=True, text=True, check=True)
    return "jdk.compiler@" in modules.stdout


def main(address: str) -> None:
    command = [
        str(java.find().path),
        f"-Xmx{_HEAP_MB}m",
        "-cp",
        f"{jvm.jars()[0].parent}/*",
        str(_SOURCE),
        address,
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise RuntimeError("nothing is heard of CuratorCache")
        told = json.loads(process.stdout.readline())
        side.say(**told, peak_mib=usage.peak_mib(process.pid))
        process.communicate()


if __name__ == "__main__":
    main(sys.argv[1])
