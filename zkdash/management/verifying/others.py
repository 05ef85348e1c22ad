"""Who stands around zkdash: proxies before it, who vouches for people, who is told of what."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import smtplib
import socket
import ssl
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import get_connection

from zkdash import configuration
from zkdash.configuration import Configuration, environment
from zkdash.configuration.tables import Table
from zkdash.management.verifying.finding import Finding, State
from zkdash.notices.mail import refusal
from zkdash.notices.webhooks import Webhook

_LIMIT_S = 5.0


def variables() -> list[Finding]:
    """Is each variable that begins as ours do one that is read: a misspelt one would be silently nothing."""
    ours = set(_of_secrets(configuration.read(os.environ)))
    findings = [
        Finding(
            "environment",
            State.WARNING,
            f"Nothing reads the variable {name}.",
            f"Is {meant} meant?" if meant else "Take it away.",
        )
        for name, meant in environment.strangers(os.environ.keys() - ours)
    ]
    return findings or [Finding("environment", State.OK, "Every variable ZKDASH_… is one that is read.")]


def _of_secrets(configured: Configuration) -> Iterator[str]:
    """The variables that the file's own keys name."""
    sign_in = (table for table in (configured.sign_in.oidc, configured.sign_in.ldap) if table)
    clusters = configured.clusters.values()
    tables: Iterable[Table] = (*clusters, *(cluster.brokers for cluster in clusters), *sign_in)
    for table in tables:
        for key in table.__struct_fields__:
            if key.endswith("_env") and (name := getattr(table, key)):
                yield str(name)


def proxy() -> list[Finding]:
    """Do the settings of what stands in front go together."""
    findings = [Finding("proxy", State.WRONG, *problem) for problem in _proxy_problems()]
    if findings:
        return findings
    if not settings.ZKDASH_PROXIES:
        return [Finding("proxy", State.UNUSED, "None is named, and forwarded headers mean nothing.")]
    sentence = f"Forwarded headers of {', '.join(settings.ZKDASH_PROXIES)} are believed."
    return [Finding("proxy", State.OK, sentence)]


def sign_in() -> list[Finding]:
    """Does the OpenID Connect provider publish what is needed, and the directory take who searches."""
    findings = [*_oidc(), *_ldap()]
    return findings or [Finding("sign-in", State.UNUSED, "Nobody but zkdash itself vouches for people.")]


def mail() -> list[Finding]:
    """Does the SMTP server take the connection, and who signs in there. No mail is sent."""
    if not any(cluster.mail for cluster in settings.ZKDASH_CLUSTERS):
        return [Finding("mail", State.UNUSED, "No cluster names an address.")]
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    connection = get_connection()
    try:
        connection.open()
    except smtplib.SMTPException as error:
        sentence = f"The SMTP server {server} refuses: {refusal(error)}."
        remedy = "Check ZKDASH_EMAIL_PORT, ZKDASH_EMAIL_TLS, ZKDASH_EMAIL_USER and its password."
        return [Finding("mail", State.WRONG, sentence, remedy)]
    except OSError as error:
        sentence = f"The SMTP server {server} is not reached: {error.strerror or error}."
        return [Finding("mail", State.WRONG, sentence, "Check ZKDASH_EMAIL_HOST and ZKDASH_EMAIL_PORT.")]
    finally:
        connection.close()
    return [Finding("mail", State.OK, f"The SMTP server {server} answers; no mail was sent.")]


def webhooks() -> list[Finding]:
    """Does each address take a connection, by TLS where it says so. Nothing is sent."""
    urls = dict.fromkeys(url for cluster in settings.ZKDASH_CLUSTERS for url in cluster.webhooks)
    findings = [_webhook(url) for url in urls]
    return findings or [Finding("webhooks", State.UNUSED, "No cluster names an address.")]


def _proxy_problems() -> Iterator[tuple[str, str]]:
    """Sentence and remedy of each."""
    for proxy in settings.ZKDASH_PROXIES:
        try:
            ipaddress.ip_network(proxy, strict=False)
        except ValueError:
            yield (
                f"ZKDASH_PROXIES names {proxy!r}, which is no address.",
                "Write the proxy's IP address or network, for example 10.0.0.5 or 10.0.0.0/24.",
            )
    scheme = "https" if settings.ZKDASH_HTTPS else "http"
    for origin in settings.ZKDASH_ORIGINS:
        parts = urlsplit(origin)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path or parts.query:
            yield (
                f"ZKDASH_ORIGINS names {origin!r}, which is no origin.",
                "Write scheme, host and port only, for example https://kafka.example.com.",
            )
        elif parts.scheme != scheme and settings.ZKDASH_HTTPS:
            yield (
                f"ZKDASH_HTTPS=1 keeps cookies from {origin}.",
                "Write https there, or leave ZKDASH_HTTPS out.",
            )
        elif not _is_allowed(parts.hostname):
            yield (
                f"ZKDASH_ORIGINS names {origin}, which ZKDASH_ALLOWED_HOSTS lacks: it is refused.",
                f"Add {parts.hostname} to ZKDASH_ALLOWED_HOSTS.",
            )


def _is_allowed(host: str) -> bool:
    return any(
        pattern in {"*", host} or (pattern.startswith(".") and f".{host}".endswith(pattern))
        for pattern in settings.ALLOWED_HOSTS
    )


def _oidc() -> Iterator[Finding]:
    config = settings.ZKDASH_SIGN_IN.oidc
    if config is None:
        return
    from zkdash.access.sso import oidc  # noqa: PLC0415 - needs Authlib, which only this way of signing in does

    try:
        oidc.look(config)
    except oidc.ProviderError as error:
        sentence = f"The provider {config.issuer} cannot be used: {error}."
        remedy = "Check issuer in [sign_in.oidc], and that zkdash may reach it."
        yield Finding("sign-in by OpenID Connect", State.WRONG, sentence, remedy)
    else:
        sentence = f"The provider {config.issuer} publishes what is needed; nobody was signed in."
        yield Finding("sign-in by OpenID Connect", State.OK, sentence)


def _ldap() -> Iterator[Finding]:
    config = settings.ZKDASH_SIGN_IN.ldap
    if config is None:
        return
    from zkdash.access.sso import directory  # noqa: PLC0415 - needs ldap3, which only this way of signing in does

    try:
        directory.look(config)
    except directory.DirectoryError as error:
        sentence = f"The directory {config.url} cannot be used: {error}."
        remedy = "Check url, ca and bind_dn with its password in [sign_in.ldap]."
        yield Finding("sign-in by LDAP", State.WRONG, sentence, remedy)
    else:
        as_whom = config.bind_dn or "nobody"
        yield Finding("sign-in by LDAP", State.OK, f"The directory {config.url} answers {as_whom}.")


def _webhook(url: str) -> Finding:
    name, parts = Webhook(url, "").name, urlsplit(url)
    is_tls = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if is_tls else 80)
    try:
        with contextlib.ExitStack() as opened:
            connection = opened.enter_context(socket.create_connection((host, port), timeout=_LIMIT_S))
            if is_tls:
                context = ssl.create_default_context()
                opened.enter_context(context.wrap_socket(connection, server_hostname=host))
    except OSError as error:
        sentence = f"{name} is not reached: {error.strerror or error}."
        remedy = "Check the address, that its server runs, and its certificate where it has one."
        return Finding("webhooks", State.WRONG, sentence, remedy)
    return Finding("webhooks", State.OK, f"{name} takes connections; nothing was sent.")
