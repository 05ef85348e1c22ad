"""Signing in by an LDAP directory: look the person up, then bind as the person with what was typed.

RFC 4513 5.1.2: a bind with a name and no password succeeds and proves nothing, so none is ever tried.
RFC 4515 3: what is typed into a filter is escaped. Referrals are not followed: they would take the
passwords to a server that nobody configured.
"""

from __future__ import annotations

import logging
import math
import re
import ssl
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

from zkdash.access.signals import refused
from zkdash.access.sso import mapping
from zkdash.access.sso.mapping import Person, RefusedError
from zkdash.access.sso.providers import Ldap

with warnings.catch_warnings():
    # ldap3 2.9 asks pyasn1 for names that it has renamed since
    warnings.simplefilter("ignore", DeprecationWarning)
    import ldap3
    from ldap3.core.exceptions import LDAPException, LDAPSASLPrepError
    from ldap3.utils.conv import escape_filter_chars

log = logging.getLogger(__name__)

_AWAY = "The directory can't be asked now. Users of zkdash itself can sign in."
_NO_SUCH_OBJECT = 32


class DirectoryError(Exception):
    """The directory did not answer, or not as configured; the message is for the log."""


class Directory(ModelBackend):
    """Django's backend. Whom the directory knows and zkdash refuses hears why on the sign-in page."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,  # noqa: ARG002 - Django's
    ) -> User | None:
        config: Ldap | None = settings.ZKDASH_SIGN_IN.ldap
        if config is None or request is None or not username or not password:
            return None
        try:
            person = find(config, username, password)
            return None if person is None else mapping.admit(person, settings.ZKDASH_SIGN_IN.roles)
        except RefusedError as error:
            refused.send(sender=type(self), request=request, name=username, sentence=str(error))
        except DirectoryError as error:
            log.warning("%s: %s", config.url, error)
            refused.send(sender=type(self), request=request, name=username, sentence=_AWAY)
        return None


def find(config: Ldap, name: str, password: str) -> Person | None:
    """The person of that name and password, None where there is none. Raises DirectoryError.

    The name must be as the directory writes it. The directory would also find it in other case, and each
    spelling would be a name of its own to who counts the attempts.
    """
    if not name or not password:
        return None
    try:
        with _bound(config, config.bind_dn, config.bind_password) as connection:
            if connection is None:
                raise DirectoryError(f"the password of bind_dn {config.bind_dn!r} is refused")
            attributes = [config.name_attribute]
            if config.id_attribute != "dn":
                attributes.append(config.id_attribute)
            wanted = _filled(config.user_filter, name=name)
            entries = _search(connection, config.user_base, wanted, attributes)
            if len(entries) != 1 or _texts(entries[0], config.name_attribute) != (name,):
                return None
            dn = str(entries[0]["dn"])
            with _bound(config, dn, password) as own:
                if own is None:
                    return None
            return Person(
                f"ldap:{config.user_base.lower()}",
                _subject(config, entries[0]),
                name,
                _groups(config, connection, name, dn),
            )
    except (LDAPException, OSError, ValueError) as error:
        raise DirectoryError(str(error) or type(error).__name__) from error


def look(config: Ldap) -> None:
    """See that the directory takes who searches in it; nobody is searched for. Raises DirectoryError."""
    try:
        with _bound(config, config.bind_dn, config.bind_password) as connection:
            if connection is None:
                raise DirectoryError(f"the password of bind_dn {config.bind_dn!r} is refused")
    except (LDAPException, OSError, ValueError) as error:
        raise DirectoryError(str(error) or type(error).__name__) from error


@contextmanager
def _bound(config: Ldap, dn: str, password: str) -> Iterator[Any]:
    """A connection that is bound, None where the password is refused. An empty name binds as nobody."""
    connection = ldap3.Connection(
        _server(config),
        user=dn or None,
        password=password or None,
        authentication=ldap3.SIMPLE if dn else ldap3.ANONYMOUS,
        auto_referrals=False,
        check_names=False,
        read_only=True,
        receive_timeout=math.ceil(config.timeout_s),
    )
    try:
        connection.open()
        if config.starttls and not connection.start_tls():
            raise DirectoryError("it refuses STARTTLS")
        yield connection if _bind(connection) else None
    finally:
        with suppress(LDAPException):  # of a connection that never was one
            connection.unbind()
        if connection.socket is not None:  # which ldap3 leaves open where it could not connect
            connection.socket.close()


def _bind(connection: Any) -> bool:
    try:
        return bool(connection.bind())
    except LDAPSASLPrepError:  # RFC 4013: with control characters it is nobody's password
        return False


class _Tls(ldap3.Tls):  # type: ignore[misc]
    """ldap3's own looks at the name in a certificate by functions that Python has no more."""

    def wrap_socket(self, connection: Any, do_handshake: bool = False) -> None:  # noqa: ARG002
        context = ssl.create_default_context(cafile=self.ca_certs_file)
        usual = connection.socket.gettimeout()
        connection.socket.settimeout(connection.server.connect_timeout)
        connection.socket = context.wrap_socket(connection.socket, server_hostname=connection.server.host)
        connection.socket.settimeout(usual)


def _server(config: Ldap) -> Any:
    parts = urlsplit(config.url)
    return ldap3.Server(
        parts.hostname,
        parts.port or (636 if parts.scheme == "ldaps" else 389),
        use_ssl=parts.scheme == "ldaps",
        tls=_Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=config.ca or None),
        get_info=ldap3.NONE,
        connect_timeout=config.timeout_s,
    )


def _search(connection: Any, base: str, wanted: str, attributes: list[str]) -> list[Any]:
    connection.search(base, wanted, ldap3.SUBTREE, attributes=attributes)
    code = connection.result["result"]
    if code not in {0, _NO_SUCH_OBJECT}:
        raise DirectoryError(f"searching {base!r} ends with {connection.result['description']}")
    return [entry for entry in connection.response or [] if entry["type"] == "searchResEntry"]


def _filled(template: str, **values: str) -> str:
    """A filter with its placeholders filled in one go, so that nothing typed is read as a placeholder."""
    return re.sub(
        r"\{(name|dn)\}", lambda match: str(escape_filter_chars(values.get(match[1], ""))), template
    )


def _groups(config: Ldap, connection: Any, name: str, dn: str) -> tuple[str, ...]:
    if not config.group_base:
        return ()
    wanted = _filled(config.group_filter, name=name, dn=dn)
    entries = _search(connection, config.group_base, wanted, [config.group_attribute])
    return tuple(sorted({text for entry in entries for text in _texts(entry, config.group_attribute)}))


def _subject(config: Ldap, entry: Any) -> str:
    """What tells the person from all others: text where it is some, else its bytes in hexadecimal."""
    if config.id_attribute == "dn":
        return str(entry["dn"]).lower()
    values = _raw(entry, config.id_attribute)
    if len(values) != 1:
        raise DirectoryError(
            f"{entry['dn']!r} has {len(values)} values of id_attribute {config.id_attribute!r}"
        )
    text = values[0].decode("ascii", "replace")
    return text if text.isprintable() and text.isascii() else values[0].hex()


def _texts(entry: Any, attribute: str) -> tuple[str, ...]:
    return tuple(value.decode("utf-8", "replace") for value in _raw(entry, attribute))


def _raw(entry: Any, attribute: str) -> list[bytes]:
    """The values of an attribute, whose name servers may write in other case."""
    return next(
        (list(values) for key, values in entry["raw_attributes"].items() if key.lower() == attribute.lower()),
        [],
    )
