"""A notice as an HTTP request: a POST of its JSON, signed, to one address, following no redirect."""

from __future__ import annotations

import hashlib
import hmac
import time
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

import msgspec

from zkdash.notices.models import Delivery

SIGNATURE = "Zkdash-Signature"
_LIMIT_S = 5.0


class Webhook(msgspec.Struct, frozen=True):
    """An address of the configuration, whose path may be a secret, and what receivers check."""

    url: str
    secret: str

    @property
    def name(self) -> str:
        """Scheme and host, and of all the rest a few digits that tell it from others of the same host."""
        place = "/".join(self.url.split("/", 3)[:3])
        return f"{place} ({hashlib.sha256(self.url.encode()).hexdigest()[:8]})"

    def send(self, delivery: Delivery) -> str:
        """Try once; what went wrong, "" for an answer of 2xx."""
        body = bytes(delivery.body)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "zkdash",
            "Zkdash-Delivery": delivery.key,
            SIGNATURE: signature(self.secret.encode(), body, int(time.time())),
        }
        request = Request(self.url, body, headers, method="POST")  # noqa: S310 - http(s) only, by configuration.clusters
        try:
            with _OPENER.open(request, timeout=_LIMIT_S):
                return ""
        except HTTPError as error:
            with error:
                return f"it answered {error.code}"
        except URLError as error:
            reason = error.reason
            return (isinstance(reason, OSError) and reason.strerror) or str(reason) or type(reason).__name__
        except (OSError, HTTPException) as error:
            return str(error) or type(error).__name__

    def __repr__(self) -> str:
        return f"Webhook({self.name!r})"


class _NoRedirect(HTTPRedirectHandler):
    """An address of the configuration does not lead to others."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER: Final = build_opener(_NoRedirect)


def signature(secret: bytes, body: bytes, at: int) -> str:
    """ "t=<epoch second>,v1=<hex>": HMAC-SHA256 of the second, a full stop and the body."""
    return f"t={at},v1={hmac.new(secret, f'{at}.'.encode() + body, hashlib.sha256).hexdigest()}"
