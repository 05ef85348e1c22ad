"""The browser of the journeys: the system's Chromium, which `make` installs where it may."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

INSTALL = "apt-get update && apt-get install -y --no-install-recommends chromium"

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
    """Return the browser on PATH. Raises MissingError."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return Path(path)
    raise MissingError(
        f"the browser tests need Chromium, and none is on PATH. Install it: sudo sh -c '{INSTALL}'"
    )


def install() -> None:
    """Install Debian's Chromium, as root or by a sudo that asks no password.

    Raises MissingError where it may not, and CalledProcessError where apt-get fails.
    """
    if not shutil.which("apt-get"):
        raise MissingError(
            "the browser tests need Chromium on PATH, and there is no apt-get here to install it with"
        )
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if root and subprocess.run([*root, "true"], capture_output=True, check=False).returncode:
        find()
    environ = [*root, "env", "DEBIAN_FRONTEND=noninteractive"]
    subprocess.run([*environ, "sh", "-c", INSTALL], check=True)


if __name__ == "__main__":
    try:
        try:
            find()
        except MissingError:
            install()
            find()
    except (MissingError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
