"""SCRAM as Kafka speaks it: who asks proves the password without sending it, and so does the broker.

Source: RFC 5802 and RFC 7677; org.apache.kafka.common.security.scram.internals.{ScramSaslClient,
ScramMessages, ScramFormatter}, which take the password's UTF-8 as it is.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from typing import Final

HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
# Kafka's own least and, ten times over, its most: more would keep the thread that all brokers are asked by.
LEAST_ITERATIONS, MOST_ITERATIONS = 4_096, 163_840
_FIRST = re.compile(
    r"r=(?P<nonce>[!-+\--~]+),s=(?P<salt>[A-Za-z0-9/+=]+),i=(?P<iterations>[1-9][0-9]{0,9})(?:,.*)?"
)
_GS2_HEADER: Final = "n,,"
_BOUND: Final = "c=biws"  # the header in base64: no channel binding


class RefusedError(ValueError):
    """What the broker says is not what one says that knows the password; the reason is a clause."""


class Exchange:
    """One authentication, three messages of ours and two answers; for this user, password and mechanism."""

    def __init__(self, mechanism: str, user: str, password: str, nonce: str = "") -> None:
        self._hash = HASHES[mechanism]
        self._password = password.encode()
        self._nonce = nonce or secrets.token_urlsafe(24)
        name = user.replace("=", "=3D").replace(",", "=2C")
        self._first_bare = f"n={name},r={self._nonce}"
        self._server_signature = b""

    def first(self) -> bytes:
        """What is sent first."""
        return f"{_GS2_HEADER}{self._first_bare}".encode()

    def final(self, answer: bytes) -> bytes:
        """What is sent after the first answer: the proof. Raises RefusedError."""
        text = _text(answer)
        parts = _FIRST.fullmatch(text)
        if parts is None:
            raise RefusedError("it answers with what is no message of SCRAM")
        nonce, iterations = parts["nonce"], int(parts["iterations"])
        if not nonce.startswith(self._nonce) or len(nonce) == len(self._nonce):
            raise RefusedError("it answers another exchange of SCRAM")
        if not LEAST_ITERATIONS <= iterations <= MOST_ITERATIONS:
            raise RefusedError(
                f"it asks for {iterations} iterations of SCRAM, where {LEAST_ITERATIONS} to "
                f"{MOST_ITERATIONS} are done"
            )
        salted = hashlib.pbkdf2_hmac(self._hash, self._password, _base64(parts["salt"]), iterations)
        without_proof = f"{_BOUND},r={nonce}"
        signed = f"{self._first_bare},{text},{without_proof}".encode()
        client_key = self._hmac(salted, b"Client Key")
        signature = self._hmac(hashlib.new(self._hash, client_key).digest(), signed)
        self._server_signature = self._hmac(self._hmac(salted, b"Server Key"), signed)
        proof = bytes(left ^ right for left, right in zip(client_key, signature, strict=True))
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def verify(self, answer: bytes) -> None:
        """See that the last answer comes from who knows the password too. Raises RefusedError."""
        text = _text(answer)
        if text.startswith("e="):
            raise RefusedError(f"it says {text[2:82]!r}")
        signature = _base64(text.partition(",")[0].removeprefix("v=")) if text.startswith("v=") else b""
        if not hmac.compare_digest(signature, self._server_signature):
            raise RefusedError("it does not prove that it knows the password")

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, self._hash).digest()


def _text(answer: bytes) -> str:
    try:
        return answer.decode()
    except UnicodeDecodeError:
        raise RefusedError("it answers with what is no message of SCRAM") from None


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise RefusedError("it answers with what is no message of SCRAM") from None
