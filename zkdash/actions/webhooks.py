"""Tells others of actions that ended: a POST to the addresses of the configuration file, and to no other.

Best effort. An action's own row says what became of it: a message that nobody takes is tried a few times,
told in the log, and forgotten. Whoever receives one checks its signature, and reads the action itself.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import queue
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

import msgspec

from zkdash.actions import documents
from zkdash.actions.models import Action
from zkdash.actions.states import State

SIGNATURE = "Zkdash-Signature"
PAUSES_S = (1.0, 5.0, 25.0)
_LIMIT_S = 5.0
_MOST_WAITING = 100
# Of those that refuse, these may take it later.
_LATER = frozenset({408, 425, 429})

log = logging.getLogger(__name__)


class Message(msgspec.Struct, frozen=True):
    """What is sent: `body` is JSON, `delivery` is the same however often it is tried."""

    cluster: str
    body: bytes
    delivery: str


class Webhooks:
    """Sends one cluster's messages to its addresses, on a thread of its own that begins with the first.

    `wait` sleeps so many seconds and says whether the process is to end.
    """

    def __init__(
        self,
        urls: Sequence[str],
        secret: str,
        *,
        wait: Callable[[float], bool],
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        self._urls, self._secret = tuple(urls), secret.encode()
        self._wait, self._pauses_s = wait, tuple(pauses_s)
        self._waiting: queue.Queue[Message] = queue.Queue(_MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._opener: OpenerDirector = build_opener(_NoRedirect)

    def tell(self, claimed: Action) -> None:
        """Send what became of an action that a worker held, if it has ended by this worker's hand.

        Returns at once. Raises django.db.DatabaseError.
        """
        if not self._urls:
            return
        action = Action.objects.filter(pk=claimed.pk, fence=claimed.fence).first()
        if action is None or not (State(action.state).has_ended or action.state == State.UNKNOWN):
            return
        try:
            self._waiting.put_nowait(message(action))
        except queue.Full:
            log.warning("Nobody is told of action %s: %s messages wait already", action.pk, _MOST_WAITING)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)
            self._thread.start()

    def send(self, url: str, told: Message) -> bool:
        """Try to send one message to one address, a few times; whether it was taken."""
        for pause_s in (*self._pauses_s, None):
            trouble, may_later = self._post(url, told)
            if not trouble:
                return True
            if pause_s is None or not may_later or self._wait(pause_s):
                break
        log.warning("The webhook %s was not told: %s", _place(url), trouble)
        return False

    def _run(self) -> None:
        while True:
            told = self._waiting.get()
            for url in self._urls:
                try:
                    self.send(url, told)
                except Exception:
                    log.exception("Telling the webhook %s failed", _place(url))

    def _post(self, url: str, told: Message) -> tuple[str, bool]:
        """What went wrong ("" for nothing), and whether it is worth another try."""
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "zkdash",
            "Zkdash-Delivery": told.delivery,
            SIGNATURE: signature(self._secret, told.body, int(time.time())),
        }
        request = Request(url, told.body, headers, method="POST")  # noqa: S310 - the configuration has http(s) only
        try:
            with self._opener.open(request, timeout=_LIMIT_S):
                return "", False
        except HTTPError as error:
            with error:
                return f"it answered {error.code}", error.code >= 500 or error.code in _LATER
        except (OSError, HTTPException) as error:
            return str(error) or type(error).__name__, True


class _NoRedirect(HTTPRedirectHandler):
    """An address of the configuration does not lead to others."""

    def redirect_request(self, *_: Any) -> None:
        return None


def message(action: Action) -> Message:
    """What is told of an action."""
    told = {
        "event": "action-ended",
        "cluster": action.cluster,
        "id": action.pk,
        "kind": action.kind,
        "target": documents.unpack(bytes(action.target)),
        "state": str(action.state),
        "by": action.by,
        "result": action.result,
        "started_at": action.started_at and action.started_at.isoformat(),
        "ended_at": action.ended_at and action.ended_at.isoformat(),
    }
    return Message(action.cluster, json.dumps(told).encode("ascii"), uuid.uuid4().hex)


def signature(secret: bytes, body: bytes, at: int) -> str:
    """ "t=<epoch second>,v1=<hex>": HMAC-SHA256 of the second, a full stop and the body."""
    return f"t={at},v1={hmac.new(secret, f'{at}.'.encode() + body, hashlib.sha256).hexdigest()}"


def _place(url: str) -> str:
    """An address as the log may have it: its path may be a secret."""
    return "/".join(url.split("/", 3)[:3])
