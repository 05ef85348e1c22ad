"""What TLS is spoken with, to ZooKeeper and to brokers: who is believed, and what is shown, by Python's ssl.

The libraries' own would believe the system's authorities beside the configured one.
"""

from __future__ import annotations

import ssl

import msgspec


class Tls(msgspec.Struct, frozen=True):
    """How a server is believed and what is shown to it: paths of PEM files, "" for none.

    Without `ca` the authorities of the system are believed. `cert` and `key` are for mutual TLS; `password`
    opens the key.
    """

    ca: str = ""
    cert: str = ""
    key: str = ""
    password: str = ""
    verify_hostname: bool = True

    def __repr__(self) -> str:
        return f"Tls(ca={self.ca!r}, cert={self.cert!r})"


class FilesError(OSError):
    """A PEM file cannot be used; `strerror` is a clause that names it."""


def context(tls: Tls, prefix: str = "") -> ssl.SSLContext:
    """What a connection is made with; keys are named with `prefix` in front. Raises FilesError.

    The files are read each time, so that renewed certificates are taken without a restart.
    """
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
