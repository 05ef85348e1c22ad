"""One serving process: bind, wire watchers, hub and pages together, run uvicorn until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import resource
import socket
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import uvicorn
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections

from zkdash import extras, program
from zkdash.access import administrators, pulse
from zkdash.actions.execution import worker
from zkdash.actions.reading import reader
from zkdash.alarms import keeping
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.limits import Limits
from zkdash.door.addresses import Addresses
from zkdash.door.connections import Connections
from zkdash.door.protocol import RequestProtocol, SocketProtocol
from zkdash.live import engine
from zkdash.management import database, ending, recording, supervising
from zkdash.notices.courier import Courier
from zkdash.rewind.rewinder import Rewinder
from zkdash.web.api import feed
from zkdash.web.history import run_reading
from zkdash.web.past import handlers
from zkdash.web.past.forwarding import ForwardingHandler
from zkdash.web.serving import authorizer, renderer
from zkdash.zk.config import ClusterConfig

_DRAIN_S = 6  # for requests; then they are cut off, and what else ends has the rest of `ending.LIMIT_S`
# Of the loop, before the port closes: whoever waits at it is taken, and answered.
_TURNS = 2
_MOST_FROM_A_CLIENT = 64 * 1024
# The kernel would keep megabytes of what a client does not read; at 100 ms this is still 2.5 MB/s.
_KERNEL_BYTES = 256 * 1024
# Its session with what wakes it, whoever asks brokers, a lock, and what is asked beside.
_FILES_A_CLUSTER = 10
# A thread that computes keeps others waiting so long: a request comes through several. Each that waits wakes
# as often to ask for its turn. Where hundreds do, as when an ensemble of many clusters comes back, nothing
# else was done until their sessions were lost again: so it is longer by a little with every cluster.
_SWITCH_S = 0.001
_SWITCH_EACH_S = 0.000_025

log = logging.getLogger(__name__)


def serve(
    host: str,
    port: int,
    clusters: Sequence[ClusterConfig],
    *,
    announce: Callable[[str, str], None],
    invitee: str = "",
    executes: bool = True,
    records: bool = True,
    pipeline: supervising.Pipeline | None = None,
    environment: Mapping[str, str] = {},
) -> None:
    """Serve until SIGTERM or SIGINT; `announce` gets the address once pages can be served.

    Beside it, as long as there is no administrator, it gets a one-time link that makes one, who is called
    `invitee` or chooses a name; else "". `executes` carries out the queue too, which one or more processes
    must; `records` writes down what changes, which one process does at a time. `pipeline` runs beside it.
    `environment` is what the process that tells the past has beside this one's.
    Port 0 takes a free one. Raises CommandError where address or database cannot be had, or where the
    address is not allowed.
    """
    recording.forgo_numpy()
    database.prepare()
    database.hold()
    _refuse_strangers(host)
    limits = settings.ZKDASH_LIMITS = _affordable(settings.ZKDASH_LIMITS, len(clusters))
    listener = _bind(host, port, limits.backlog)
    origin = _origin(host, listener.getsockname()[1])
    _trust(host, origin)
    address = f"{origin}{settings.ZKDASH_PREFIX}/"
    _collect_static()
    if records and (lacking := extras.missing("pipeline", "Recording what changes")):
        log.warning("%s", lacking)
        records = False
    recorders = recording.Recorders(clusters if records else ())
    sys.setswitchinterval(max(_SWITCH_S, _SWITCH_EACH_S * len(clusters)))
    running = engine.Engine(
        clusters,
        renderer.Renderer(),
        sinks=recorders.of,
        actions=reader,
        recent=run_reading.recent,
        keeper=keeping.Keeper(settings.ZKDASH_CHECKS),
        prober=pulse.Prober(),
        thresholds=settings.ZKDASH_CHECKS.of,
        limits=limits,
    )
    running.hub.guard(authorizer.DatabaseAuthorizer())
    engine.configure(running)
    rewinder = Rewinder(supervising.COMMAND, limits, environment)
    handlers.configure(ForwardingHandler(rewinder, recorders.reach))
    link = "" if administrators.exist() else f"{address}welcome/{administrators.invite(invitee)}/"
    connections.close_all()
    hands = worker.Worker(
        clusters if executes else (),
        owner=worker.own_name(),
        notify=lambda _cluster: running.polled.queue.poke(),
    )
    courier = Courier()

    def leaving() -> None:
        feed.leave()
        hands.leave()
        courier.leave()
        if pipeline:
            pipeline.leave()

    coming = Connections(limits, Addresses(settings.ZKDASH_PROXIES))
    server = _Server(
        uvicorn.Config(
            "zkdash.asgi:application",
            http=cast("Any", partial(RequestProtocol, coming)),
            ws=SocketProtocol,
            backlog=limits.backlog,
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            # Otherwise whoever comes from this machine could say that they come from elsewhere.
            proxy_headers=bool(settings.ZKDASH_PROXIES),
            forwarded_allow_ips=settings.ZKDASH_PROXIES,
            timeout_graceful_shutdown=_DRAIN_S,
            ws_max_size=_MOST_FROM_A_CLIENT,
            ws_ping_interval=20,
            ws_ping_timeout=20,
            # Compressing for each socket anew costs more than all the rest of a frame.
            ws_per_message_deflate=False,
        ),
        coming,
        lambda: announce(address, link),
        leaving,
    )
    ending.when_told(server.leave)
    hands.start()
    courier.start()
    if pipeline:
        pipeline.start()
    recorders.start()
    server.run(sockets=[listener])
    rewinder.stop()
    recorders.stop()
    if pipeline:
        pipeline.stop()
    if not hands.stop(ending.left()):
        log.warning("A step did not end in time; whoever takes it over finds out")
    courier.stop(ending.left())


class _Server(uvicorn.Server):
    """uvicorn, watching its connections, and telling when it answers and when it ends."""

    def __init__(
        self,
        config: uvicorn.Config,
        coming: Connections,
        ready: Callable[[], None],
        leaving: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._coming, self._ready, self._leaving = coming, ready, leaving
        self._watching: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._watching = asyncio.create_task(self._coming.watch())
        await super().startup(sockets=sockets)
        if self.started and not self.should_exit:
            self._ready()

    def leave(self) -> None:
        """End soon; from any thread."""
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """They are taken already, and what came before this is not forgotten."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._leaving()
        ending.hush(
            "uvicorn.error", asyncio.CancelledError
        )  # of requests that are cut off; a line counts them
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        await super().shutdown(sockets=sockets)
        if self._watching is not None:
            self._watching.cancel()


def _affordable(limits: Limits, clusters: int) -> Limits:
    """The limits as far as this process may open files for them, of which it asks for as many as it needs."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    of_clusters = _FILES_A_CLUSTER * clusters
    files = limits.files + of_clusters
    files = files if most == resource.RLIM_INFINITY else min(most, files)
    if now != resource.RLIM_INFINITY and now < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    try:
        affordable = limits.within(files - of_clusters)
    except ConfigError as error:
        raise CommandError(str(error)) from error
    if affordable != limits:
        log.warning(
            "Only %d files may be open (ulimit -n), not %d: %d connections are taken instead of %d",
            files,
            limits.files + of_clusters,
            affordable.connections,
            limits.connections,
        )
    return affordable


def _collect_static() -> None:
    """Collect what is newer than the last time, so that processes started side by side leave it alone."""
    if settings.IS_WHEEL:
        return
    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    collected = manifest.stat().st_mtime if manifest.exists() else 0.0
    files = (storage.path(name) for finder in get_finders() for name, storage in finder.list([]))
    if any(Path(path).stat().st_mtime > collected for path in files):
        call_command("collectstatic", interactive=False, verbosity=0)


def _refuse_strangers(host: str) -> None:
    """Until somebody can grant and take away, stay on this machine.

    The secret key needs no such care: it is the operator's, or one that was made for this data directory.
    """
    if not _is_loopback(host) and not administrators.exist():
        raise CommandError(
            f"--host {host} can be reached from other machines, and there is no administrator yet. Make one "
            f"with “{program.line('createadmin')}”, or listen on 127.0.0.1 and use the link that is printed "
            "there."
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bind(host: str, port: int, backlog: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):  # those of its connections too
            listener.setsockopt(socket.SOL_SOCKET, buffer, _KERNEL_BYTES)
        listener.bind(address)
        listener.listen(backlog)
    except (OSError, OverflowError) as error:
        raise CommandError(
            f"Cannot listen on {host}:{port}: {error}. Choose another --port (0 takes a free one) or --host."
        ) from error
    return listener


def _origin(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _trust(host: str, origin: str) -> None:
    """Answer to the name that was asked for, and take WebSockets from its pages."""
    port = origin.rpartition(":")[2]
    names = {*settings.ALLOWED_HOSTS, f"[{host}]" if ":" in host else host}
    settings.ALLOWED_HOSTS = sorted(names)
    settings.ZKDASH_ORIGINS = sorted({*settings.ZKDASH_ORIGINS, *(f"http://{name}:{port}" for name in names)})
