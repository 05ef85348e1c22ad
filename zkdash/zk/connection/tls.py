"""Connections to ZooKeeper over TLS, by Python's ssl: kazoo's own would not look at names."""

from __future__ import annotations

import socket
import ssl

from zkdash import tls
from zkdash.tls import Tls


def dial(over: Tls | None, address: tuple[str, int], *, hostname: str, limit_s: float) -> socket.socket:
    """Connect to (IP address, port), and shake hands with `hostname` where TLS is asked for."""
    context = None if over is None else tls.context(over)
    connection = socket.create_connection(address, timeout=limit_s)
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is None:
            return connection
        # a scope ("%eth0") is this machine's, and in no certificate
        return context.wrap_socket(connection, server_hostname=hostname.partition("%")[0])
    except ssl.SSLError:  # of a certificate it is a ValueError too
        connection.close()
        raise
    except ValueError as error:
        connection.close()
        raise OSError(0, f"{hostname!r} cannot be a name in a certificate") from error
    except BaseException:
        connection.close()
        raise
