"""The keys of a cluster's table that say who is told of it: `webhooks` and `mail`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from zkdash.zk.connection.identity import ConfigError

KEYS = frozenset({"webhooks", "mail"})

_WEBHOOK = re.compile(
    r"https?://(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?(?:/[!-~]*)?"
)
# Less than RFC 5321 allows, and all that people have.
_MAIL = re.compile(r"[A-Za-z0-9._%+=&'*/?^~-]{1,64}@[A-Za-z0-9.-]{1,190}")


def read(
    where: str, table: Mapping[str, Any], environ: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The addresses of webhooks, and those of mail. Raises ConfigError."""
    return _webhooks(where, table, environ), _mail(where, table, environ)


def _webhooks(where: str, table: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Told without what is in them: a path may be a secret."""
    found = _texts(where, table, "webhooks", "https://host/path")
    for number, url in enumerate(found, 1):
        if not _WEBHOOK.fullmatch(url):
            raise ConfigError(
                f"{where} webhooks: number {number} is no address that can be told: write https://host/path "
                "or http://host/path, without a name or password."
            )
    if found and not (environ.get("ZKDASH_WEBHOOK_SECRET") or environ.get("ZKDASH_WEBHOOK_SECRET_FILE")):
        raise ConfigError(
            f"{where} webhooks: the environment has no ZKDASH_WEBHOOK_SECRET: set it, or the file "
            "ZKDASH_WEBHOOK_SECRET_FILE, to what the receivers check signatures with."
        )
    return found


def _mail(where: str, table: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[str, ...]:
    found = _texts(where, table, "mail", "name@host")
    for address in found:
        if not _MAIL.fullmatch(address):
            raise ConfigError(f"{where} mail: {address!r} is no address: write name@host, and nothing else.")
    if found and not environ.get("ZKDASH_EMAIL_HOST"):
        raise ConfigError(
            f"{where} mail: the environment has no ZKDASH_EMAIL_HOST: set it to the SMTP server that "
            "takes the mail."
        )
    return found


def _texts(where: str, table: Mapping[str, Any], key: str, example: str) -> tuple[str, ...]:
    found = table.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ConfigError(f'{where} {key} is no list of addresses: write ["{example}"].')
    if len(set(found)) != len(found):
        raise ConfigError(f"{where} {key} names an address twice: name each once.")
    return tuple(found)
