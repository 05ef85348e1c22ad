"""Who is told of a cluster: the addresses of its configuration, and no other."""

from __future__ import annotations

from typing import Protocol

from django.conf import settings

from zkdash.notices.mail import Mail
from zkdash.notices.models import Delivery
from zkdash.notices.webhooks import Webhook
from zkdash.zk.config import named


class Target(Protocol):
    """An address, by a name that holds nothing secret and is its own within the cluster."""

    @property
    def name(self) -> str: ...

    def send(self, delivery: Delivery) -> str:
        """Try once to send it; what went wrong, in a few words, "" where it was taken."""


def names(cluster: str) -> tuple[str, ...]:
    """The names of all that are told of a cluster."""
    return tuple(target.name for target in _of(cluster))


def find(cluster: str, name: str) -> Target | None:
    """The address of that name; None where the configuration has it no more."""
    return next((target for target in _of(cluster) if target.name == name), None)


def _of(cluster: str) -> tuple[Target, ...]:
    if (config := named(settings.ZKDASH_CLUSTERS, cluster)) is None:
        return ()
    secret: str = settings.ZKDASH_WEBHOOK_SECRET
    return (
        *(Webhook(url, secret) for url in config.webhooks),
        *(Mail(address) for address in config.mail),
    )
