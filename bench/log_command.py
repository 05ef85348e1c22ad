"""A command run by a process that is small itself: what it used, and the most memory that it held.

A fork hands the memory of its parent down to ru_maxrss, so that the bench itself cannot be that parent.
"""

from __future__ import annotations

import os
import subprocess
import sys

from bench import side


def main(command: list[str]) -> None:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    side.say(code=process.returncode, cpu_s=usage.ru_utime + usage.ru_stime, peak_mib=usage.ru_maxrss / 1024)


if __name__ == "__main__":
    main(sys.argv[1:])
