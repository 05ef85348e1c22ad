"""The browser of the journeys: the system's Chromium, which `make` installs where it may.

Its headless shell is the same engine without the windows that nobody sees: with it the journeys take half of
the processor's time. Where it cannot be had, a whole Chromium does.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

SHELL = "chromium-headless-shell"
_PUT = "apt-get install -y --no-install-recommends"
INSTALL = f"apt-get update && {{ {_PUT} {SHELL} || {_PUT} chromium; }}"

_MISSING = f"the browser tests need Chromium, and none is on PATH. Install it: sudo sh -c '{INSTALL}'"

# A browser under test talks to 127.0.0.1 and to nobody else.
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--disable-gpu",
)


class MissingError(RuntimeError):
    """No browser is installed; the message holds the command that installs one."""


def find() -> Path:
    """Return the browser on PATH, the lightest first. Raises MissingError."""
    for name in (SHELL, "chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return Path(path)
    raise MissingError(_MISSING)


def install() -> None:
    """Install Debian's headless shell, or its Chromium, as root or by a sudo that asks no password.

    Raises MissingError where it may not, and CalledProcessError where apt-get fails.
    """
    if not shutil.which("apt-get"):
        raise MissingError(
            "the browser tests need Chromium on PATH, and there is no apt-get here to install it with"
        )
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if root and subprocess.run([*root, "true"], capture_output=True, check=False).returncode:
        raise MissingError(_MISSING)
    environ = [*root, "env", "DEBIAN_FRONTEND=noninteractive"]
    subprocess.run([*environ, "sh", "-c", INSTALL], check=True)


def prepare() -> None:
    """Install a browser where there is none, and the shell where apt knows of it; who has one may go without.

    Raises MissingError and CalledProcessError as `install`, where there is no browser at all.
    """
    if shutil.which(SHELL):
        return
    try:
        find()
    except MissingError:
        install()
        find()
        return
    with contextlib.suppress(MissingError, OSError, subprocess.CalledProcessError):
        subprocess.run(["apt-cache", "show", SHELL], capture_output=True, check=True)
        install()


if __name__ == "__main__":
    try:
        prepare()
    except (MissingError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
