"""The pipeline's worker beside a serving process: started once needed, again where it dies, ended with it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from django.conf import settings

_MANAGE: Final = Path(settings.BASE_DIR) / "manage.py"
# Our own command line, whichever directory it is started in.
COMMAND: Final = (
    [sys.executable, str(_MANAGE)] if _MANAGE.exists() else [sys.executable, "-P", "-m", "zkdash"]
)
STOP_LIMIT_S: Final = 7.0  # within `ending.LIMIT_S`, and more than the worker gives to a run
_PAUSE_S: Final = 10.0
_LOOK_S: Final = 2.0

log = logging.getLogger(__name__)


class Pipeline:
    """`manage.py pipeline work` as a process of its own. `environment` is added to this process's.

    It is not started before `is_needed`, which is asked now and then on a thread of its own.
    """

    def __init__(
        self, environment: Mapping[str, str] = {}, *, is_needed: Callable[[], bool] = lambda: True
    ) -> None:
        self._environment = {**os.environ, **environment}
        self._is_needed = is_needed
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._supervise, name="pipeline")

    def start(self) -> None:
        self._thread.start()

    def leave(self) -> None:
        """Begin to end it, and the run that it carries out; returns at once."""
        self._over.set()

    def stop(self) -> None:
        """End it, and the run that it carries out."""
        self.leave()
        self._thread.join()

    def _supervise(self) -> None:
        command = [*COMMAND, "pipeline", "work", "--until-eof"]
        while not self._over.is_set() and not self._is_needed():
            self._over.wait(_LOOK_S)
        while not self._over.is_set():
            # Its standard input ends with this process, however that ends: then it ends too. A terminal's
            # Ctrl-C is not for it: it would come while it still starts, and show where.
            process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                env=self._environment,
                start_new_session=True,
            )
            assert process.stdin is not None  # noqa: S101 - for the type
            with process.stdin:
                while process.poll() is None and not self._over.wait(0.5):
                    pass
                if process.poll() is None:
                    _end(process)
                    return
            log.warning("The pipeline's worker ended with code %s; it is started again", process.returncode)
            self._over.wait(_PAUSE_S)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
