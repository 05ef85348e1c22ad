"""A team's zkdash as `deploy/compose.yaml` has it: two of each role on one PostgreSQL, behind nginx.

Commands and variables are those of the file, on addresses of this machine, below a path of the proxy's host.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

import yaml

from tests import forking
from tests.faults.realm import CLUSTER
from tests.nginx import Nginx
from tests.processes import inherited
from tests.waiting import wait_for
from zkdash.demo.runtime import ports
from zkdash.history.recorder import status

ROOT: Final = Path(__file__).resolve().parents[2]
COMPOSE: Final = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
PREFIX: Final = "/zkdash"
LIMIT_S: Final = 180.0
# What each role prints once it works.
_READY: Final = {"serve": "zkdash serves", "execute": "carries out the actions", "record": "zkdash records"}


class Member:
    """One process of the team; it is started again by the same command."""

    def __init__(
        self, name: str, role: str, directory: Path, environ: Mapping[str, str], port: int = 0
    ) -> None:
        self.name, self.role, self.port = name, role, port
        self._log, self._environ = directory / f"{name}.log", dict(environ)
        self._process: subprocess.Popen[bytes] | forking.Process | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Begin; `wait` tells when it works."""
        argv = ["manage.py", *self._command()]
        with self._log.open("wb") as log:
            if self.role == "serve":  # whose addresses are made when modules are imported: with their prefix
                self._process = subprocess.Popen(
                    [sys.executable, *argv],
                    cwd=ROOT,
                    env=self._environ,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            else:
                self._process = forking.Process(argv, env=self._environ, stdout=log, stderr=log)

    def wait(self) -> None:
        """Until it works; one that serves, until it has its clusters, as whoever rolls a version waits."""
        wait_for(lambda: _READY[self.role] in self.told() or self._ended(), LIMIT_S, self.told)
        assert not self._ended(), self.told()
        if self.role == "serve":
            wait_for(self._is_ready, LIMIT_S, self.told, every_s=0.1)

    def end(self, number: int = signal.SIGTERM) -> None:
        """End it as an operator does, who sees that it ends well, or as a crash does."""
        assert self._process is not None
        self._process.send_signal(number)
        status = self._process.wait(LIMIT_S)
        assert status == (0 if number == signal.SIGTERM else -number), self.told()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(LIMIT_S)

    def told(self) -> str:
        """The end of what it printed since it was started."""
        return f"{self.name}: {self._log.read_text()[-3000:]}"

    def _command(self) -> list[str]:
        here = {"0.0.0.0": "127.0.0.1", "8000": str(self.port)}  # noqa: S104 - what it is replaced by
        command = [here.get(word, word) for word in COMPOSE["services"][self.role]["command"]]
        return [*command, "--lease", "2"] if self.role == "execute" else command

    def _ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def _is_ready(self) -> bool:
        address = f"http://127.0.0.1:{self.port}/readyz"
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=LIMIT_S) as answer:
            return bool(answer.status == 200)
        return False


class Team:
    """Two of each role, started together, and the proxy in front of those that serve."""

    def __init__(self, directory: Path, config: str, database: str) -> None:
        directory.mkdir(parents=True)
        serve_ports = ports.free(2)
        self.proxy = Nginx(directory / "nginx", serve_ports, PREFIX)
        self.history = directory / "history"
        environ = self._environ(directory, config, database)

        def two(role: str, at: Sequence[int] = (0, 0)) -> list[Member]:
            return [
                Member(f"{role}-{name}", role, directory, environ, port)
                for name, port in zip("ab", at, strict=True)
            ]

        self.serving, self.executing, self.recording = (
            two("serve", serve_ports),
            two("execute"),
            two("record"),
        )

    @property
    def members(self) -> list[Member]:
        return [*self.serving, *self.executing, *self.recording]

    def __enter__(self) -> Self:
        try:
            for member in self.members:
                member.start()
            for member in self.members:
                member.wait()
            self.proxy.__enter__()
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.proxy.__exit__()
        if kind is not None:
            sys.stderr.write("\n".join([*(member.told() for member in self.members), self.proxy.told()]))
        self._kill()

    def recorder(self) -> Member | None:
        """The one that records, as the others are told; None while nobody took over."""
        told = status.read(CLUSTER, self.history / CLUSTER, 0)
        return next((member for member in self.recording if told and member.pid == told.pid), None)

    def _kill(self) -> None:
        for member in self.members:
            member.kill()

    def _environ(self, directory: Path, config: str, database: str) -> dict[str, str]:
        given = {
            "ZKDASH_CONFIG": config,
            "ZKDASH_DATABASE": database,
            "ZKDASH_SECRET_KEY": "fifty-random-characters-that-the-team-has-chosen-once",
            "ZKDASH_HISTORY": str(self.history),
            "ZKDASH_HTTPS": "1",
            "ZKDASH_PROXIES": "127.0.0.1",
            "ZKDASH_ALLOWED_HOSTS": "127.0.0.1",
            "ZKDASH_ORIGINS": self.proxy.origin,
        }
        assert given.keys() == COMPOSE["services"]["serve"]["environment"].keys()
        return {**inherited(), **given, "ZKDASH_DATA": str(directory / "data"), "ZKDASH_PREFIX": PREFIX}
