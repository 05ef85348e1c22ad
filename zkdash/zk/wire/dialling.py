# ruff: noqa: SLF001 - kazoo's private names are what this module is about
"""What kazoo does otherwise when it connects, for the mirror's wire and for the writer alike.

TLS is `tls`'s, because kazoo's own believes more authorities than it is told and leaves sockets open. SASL
that fails is AuthFailedError whatever pure-sasl or the server made of it: everything else ends kazoo's
thread or is tried at once, for ever. What is announced is never taken on trust.
"""

from __future__ import annotations

import logging
import ssl
import struct
import threading
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import AuthFailedError, ConnectionDropped, SASLException
from kazoo.handlers.threading import KazooTimeoutError, SequentialThreadingHandler
from kazoo.protocol.connection import ConnectionHandler

from zkdash.tls import FilesError, Tls, words
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection import tls
from zkdash.zk.connection.identity import Identity
from zkdash.zk.wire import stream

# lets `close` return soon, whatever the session's time-out
LIMIT_S = 5.0

# kazoo logs credentials at DEBUG; outside of the logger tree no configuration can switch this one on
silent = logging.Logger("kazoo")  # noqa: LOG001 - that is the point
silent.disabled = True

log = logging.getLogger(__name__)

# the first that fits
_CAUSES: tuple[tuple[type[Exception] | tuple[type[Exception], ...], stream.Cause], ...] = (
    (TimeoutError, stream.Cause.TIMED_OUT),
    (FilesError, stream.Cause.FILES),
    (ssl.SSLCertVerificationError, stream.Cause.UNTRUSTED),
    (ssl.SSLError, stream.Cause.NO_TLS),
    ((ConnectionResetError, BrokenPipeError), stream.Cause.CLOSED),
    (OSError, stream.Cause.UNREACHABLE),
    ((struct.error, RuntimeError, ValueError, KeyError, IndexError), stream.Cause.NOT_ZOOKEEPER),
)


class Threads(SequentialThreadingHandler):
    """kazoo's threading, connecting over `over`, in plain where it is None. `failure` is the last one."""

    def __init__(self, over: Tls | None) -> None:
        super().__init__()
        self._over = over
        self.failure: OSError | None = None

    def create_connection(self, address: tuple[str, int], hostname: str, timeout: float, **_: object) -> Any:
        """Connect within a limit. Raises OSError."""
        try:
            return tls.dial(self._over, address, hostname=hostname, limit_s=min(timeout, LIMIT_S))
        except OSError as error:
            self.failure = error
            raise

    def select(self, rlist: Any, wlist: Any, xlist: Any, timeout: float | None = None) -> Any:
        """Also what TLS has taken from the kernel already is there to be read."""
        taken = [sock for sock in rlist if isinstance(sock, ssl.SSLSocket) and sock.pending()]
        return (taken, [], []) if taken else super().select(rlist, wlist, xlist, timeout)


class Connection(ConnectionHandler):
    """kazoo's connection, with an identity."""

    def __init__(self, client: KazooClient, identity: Identity) -> None:
        super().__init__(client, client._conn_retry.copy(), logger=silent, sasl_options=identity.sasl_options)

    def _authenticate_with_sasl(self, host: str, timeout: float) -> None:
        try:
            super()._authenticate_with_sasl(host, timeout)
        except SASLException as error:
            raise AuthFailedError from error
        except stream.BrokenError as error:
            if error.cause is not stream.Cause.CLOSED:
                raise
            raise AuthFailedError from error


class Client(KazooClient):
    """kazoo's client for a few requests as `identity`, not started.

    kazoo says that it is connected before the server has judged the identity, and forgets a refusal as soon
    as its thread has ended. So `judged` is set while there is a connection that may be used, and for good
    once a server `refused` the identity: kazoo tries no further then.
    """

    def __init__(self, config: ClusterConfig, identity: Identity) -> None:
        super().__init__(
            hosts=config.address,
            timeout=config.session_timeout_s,
            handler=Threads(identity.tls),
            auth_data=identity.addauth,
            logger=silent,
        )
        self._connection = _Careful(self, identity)
        self.judged = threading.Event()
        self.refused = False


class _Careful(Connection):
    """kazoo's own pump, for a few requests, with a limit to what it takes."""

    def _connect_attempt(self, *args: Any) -> Any:
        try:
            return super()._connect_attempt(*args)
        finally:
            if not self.client.refused:
                self.client.judged.clear()

    def _connect(self, *args: Any) -> tuple[float, float]:
        try:
            limits: tuple[float, float] = super()._connect(*args)
        except AuthFailedError:
            self.client.refused = True
            self.client.judged.set()
            raise
        self.client.judged.set()
        return limits

    def _read(self, length: int, timeout: float) -> bytes:
        if not 0 <= length <= stream.MAX_FRAME:
            raise ConnectionDropped("no frame of ZooKeeper's")
        taken: bytes = super()._read(length, timeout)
        return taken


def explain(error: Exception) -> tuple[stream.Cause, str]:
    """Tell why a connection ended from what was raised."""
    if isinstance(error, stream.BrokenError):
        return error.cause, str(error)
    if isinstance(error, KazooTimeoutError):
        return stream.Cause.TIMED_OUT, ""
    reason = error.__context__ if isinstance(error, ConnectionDropped) else error
    for kinds, cause in _CAUSES:
        if isinstance(reason, kinds):
            return cause, _detail(reason) if isinstance(reason, OSError) else ""
    log.error("A connection to ZooKeeper ended in an unexpected way", exc_info=error)
    return stream.Cause.CLOSED, ""


def _detail(error: OSError) -> str:
    return words(error) if isinstance(error, ssl.SSLError) else error.strerror or str(error)
