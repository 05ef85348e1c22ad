"""Connections to ZooKeeper over TLS, by Python's ssl: what is believed is told by `Tls`, and nothing else.

kazoo's own would believe the system's authorities beside the configured one, and would not look at names.
"""

from __future__ import annotations

import socket
import ssl

from zkdash.zk.connection.identity import ConfigError, Tls


class FilesError(OSError):
    """A PEM file cannot be used; `strerror` is a clause that names it."""


def check(tls: Tls, where: str, prefix: str = "") -> None:
    """See that the files can be used. Raises ConfigError."""
    try:
        _context(tls, prefix)
    except FilesError as error:
        raise ConfigError(f"{where} {error.strerror}") from error


def dial(tls: Tls | None, address: tuple[str, int], *, hostname: str, limit_s: float) -> socket.socket:
    """Connect to (IP address, port), and shake hands with `hostname` where TLS is asked for. Raises OSError.

    The files are read each time, so that renewed certificates are taken without a restart.
    """
    context = None if tls is None else _context(tls)
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


def _context(tls: Tls, prefix: str = "") -> ssl.SSLContext:
    """Raises FilesError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = tls.verify_hostname
    try:
        if tls.ca:
            context.load_verify_locations(tls.ca)
        else:
            context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    except OSError as error:
        raise FilesError(
            0, f"tls_ca = {tls.ca!r} can't be used ({_why(error)}): name a file of certificates in PEM."
        ) from error
    if tls.cert:
        try:
            # without a password given, OpenSSL would ask for one on the terminal
            context.load_cert_chain(tls.cert, tls.key or None, password=tls.password)
        except OSError as error:
            raise FilesError(
                0,
                f"{prefix}tls_cert = {tls.cert!r} and {prefix}tls_key = {tls.key!r} can't be used "
                f"({_why(error)}): name a certificate and its key in PEM, and the key's password if any.",
            ) from error
    return context


def words(error: ssl.SSLError) -> str:
    """OpenSSL's reason as an operator reads it: "certificate has expired", "sslv3 alert bad certificate"."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return str(error.verify_message).rstrip(".")
    return (error.reason or error.strerror or "no reason given").replace("_", " ").lower()


def _why(error: OSError) -> str:
    return words(error) if isinstance(error, ssl.SSLError) else error.strerror or str(error)
