"""The proxy of a team's deployment: Debian's nginx, by `deploy/nginx.conf`, on ports of the test's own.

Where there is none on PATH, the program is taken out of Debian's package into the user's cache: nothing is
installed, and no service is started.
"""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from tests.lab import jars
from tests.waiting import wait_for
from tests.zk.certificates import Authority
from zkdash.demo.runtime import ports

CONF: Final = Path(__file__).resolve().parent.parent / "deploy" / "nginx.conf"
START_LIMIT_S: Final = 60.0
_PROGRAM: Final = Path("usr", "sbin", "nginx")
_MISSING: Final = "this test needs nginx, and none is on PATH. Install it: apt-get install nginx"


class MissingError(RuntimeError):
    """There is no nginx, and it cannot be fetched; the message says what answered."""


def find() -> Path:
    """The program, fetched where this machine has none. Raises MissingError."""
    if path := shutil.which("nginx"):
        return Path(path)
    kept = jars.cache().parent / "nginx"
    if not (kept / _PROGRAM).exists():
        _fetch(kept)
    return kept / _PROGRAM


def _fetch(kept: Path) -> None:
    """Unpack Debian's package there, whole or not at all."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise MissingError(f"{_MISSING} (there is no apt-get here to fetch it with)")
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix="nginx-") as made:
        directory = Path(made)
        download = ("apt-get", "download", "nginx")
        if _run(download, directory).returncode:
            _run(("apt-get", "update"), directory)  # of a machine that has no lists yet
            fetched = _run(download, directory)
            if fetched.returncode:
                raise MissingError(f"{_MISSING}\n{fetched.stderr}")
        (package,) = directory.glob("nginx_*.deb")
        subprocess.run(["dpkg-deb", "-x", str(package), str(directory / "root")], check=True)
        if not (kept / _PROGRAM).exists():
            shutil.rmtree(kept, ignore_errors=True)
            (directory / "root").rename(kept)


def _run(command: Sequence[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


class Nginx:
    """A running nginx in front of some ports of 127.0.0.1; with a `prefix`, below that path alone.

    `address` is "https://127.0.0.1:<port><prefix>"; `trust` is what a client believes it by.
    """

    def __init__(self, directory: Path, backends: Sequence[int], prefix: str = "") -> None:
        directory.mkdir(parents=True)
        self._directory, self._backends, self.prefix = directory, backends, prefix
        self._plain, self.port = ports.free(2)
        self.origin = f"https://127.0.0.1:{self.port}"
        self.address = self.origin + prefix
        self._authority = Authority(directory / "tls", "authority")
        self.trust = ssl.create_default_context(cafile=str(self._authority.ca))
        self._log = directory / "error.log"

    def __enter__(self) -> Self:
        (self._directory / "nginx.conf").write_text(self._main())
        (self._directory / "zkdash.conf").write_text(self._ours())
        arguments = ("-p", str(self._directory), "-c", "nginx.conf", "-e", str(self._log))
        self._process = subprocess.Popen([str(find()), *arguments])
        wait_for(
            lambda: not ports.is_free(self.port) or self._process.poll() is not None,
            START_LIMIT_S,
            self.told,
        )
        assert self._process.poll() is None, self.told()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(START_LIMIT_S)

    def told(self) -> str:
        """The end of its log."""
        return self._log.read_text()[-4000:] if self._log.exists() else "nginx said nothing"

    def _ours(self) -> str:
        """deploy/nginx.conf with what an operator changes in it: names, ports, files, the path."""
        tls = self._authority.issue("proxy")
        servers = "\n".join(f"    server 127.0.0.1:{port} max_fails=0;" for port in self._backends)
        changed = {
            "    server serve:8000 max_fails=0;": servers,
            "listen 80;": f"listen 127.0.0.1:{self._plain};",
            "listen 443 ssl;": f"listen 127.0.0.1:{self.port} ssl;",
            "/etc/nginx/tls.crt": str(tls.cert),
            "/etc/nginx/tls.key": str(tls.key),
            "location / {": f"location {self.prefix}/ {{",
        }
        text = CONF.read_text()
        for theirs, here in changed.items():
            assert text.count(theirs) == 1, theirs
            text = text.replace(theirs, here)
        return text

    def _main(self) -> str:
        """What the package's own nginx.conf is around it, with every file below the directory."""
        written = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        kept = "\n".join(f"    {name}_temp_path {name};" for name in written)
        user = "user root;\n" if os.geteuid() == 0 else ""
        return (
            f"{user}daemon off;\nworker_processes 1;\npid nginx.pid;\nevents {{ worker_connections 2048; }}\n"
            f"http {{\n    access_log off;\n{kept}\n    include zkdash.conf;\n}}\n"
        )
