"""Authentication on a new connection to a broker, before anything else is asked.

SaslHandshake version 1 and SaslAuthenticate version 0 (1.0, KIP-152); where a broker has only version 0 of
the handshake (0.10), the tokens follow it bare, each behind its length. Which it has tells ApiVersions
version 0, which brokers answer to everybody.
Source: org.apache.kafka.common.security.authenticator.SaslClientAuthenticator; KIP-43, KIP-84, KIP-255
(OAUTHBEARER, RFC 7628).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Awaitable, Callable
from typing import Any, Final

from zkdash.broker import questions
from zkdash.broker.questions import Question
from zkdash.broker.security import scram
from zkdash.broker.security.scram import RefusedError
from zkdash.configuration.brokers import OAUTHBEARER, PLAIN, Security
from zkdash.configuration.errors import ConfigError

MOST_BYTES: Final = 64 << 10  # of an answer
HANDSHAKE: Final = 17  # SaslHandshake, by its API key
_UNSUPPORTED_MECHANISM: Final = 33
_SAID_MAX: Final = 200

Ask = Callable[[Question], Awaitable[Any]]
Token = Callable[[bytes], Awaitable[bytes]]

__all__ = ["RefusedError", "authenticate", "framed"]


def framed(token: bytes) -> bytes:
    """A bare token as it is sent."""
    return struct.pack("!i", len(token)) + token


async def authenticate(security: Security, ask: Ask, send_bare: Token) -> None:
    """Authenticate by the mechanism of `security`; `ask` asks a question, `send_bare` a bare token.

    Raises RefusedError, its reason a clause about the broker, without a secret; and what these raise.
    """
    versions = questions.read_versions(await ask(questions.versions()))
    has_frames = versions.get(HANDSHAKE, 0) >= 1
    schemas = questions.client_classes()
    handshake = await ask(
        Question(
            schemas.SaslHandshakeRequest(mechanism=security.mechanism),
            int(has_frames),
            schemas.SaslHandshakeResponse,
            MOST_BYTES,
        )
    )
    if handshake.error_code == _UNSUPPORTED_MECHANISM:
        offered = ", ".join(map(str, handshake.mechanisms or ())) or "none"
        raise RefusedError(f"it does not take {security.mechanism}, but {offered[:_SAID_MAX]}")
    if handshake.error_code:
        raise RefusedError(questions.words(handshake.error_code))

    async def send(token: bytes) -> bytes:
        if not has_frames:
            return await send_bare(token)
        answer = await ask(
            Question(
                schemas.SaslAuthenticateRequest(auth_bytes=token),
                0,
                schemas.SaslAuthenticateResponse,
                MOST_BYTES,
            )
        )
        if answer.error_code:
            raise RefusedError(
                f"it does not accept {_who(security)}: {_said(answer.error_message, answer.error_code)}"
            )
        return answer.auth_bytes or b""

    await _exchange(security, send)


async def _exchange(security: Security, send: Token) -> None:
    if security.mechanism == PLAIN:
        await send(b"\0".join((b"", security.user.encode(), security.password.encode())))
    elif security.mechanism == OAUTHBEARER:
        # An error is told in the answer, which a byte of ours acknowledges; then the broker refuses.
        if await send(f"n,,\x01auth=Bearer {_token(security)}\x01\x01".encode()):
            await send(b"\x01")
            raise RefusedError(f"it does not accept {_who(security)}")
    else:
        exchange = scram.Exchange(security.mechanism, security.user, security.password)
        exchange.verify(await send(exchange.final(await send(exchange.first()))))


def _token(security: Security) -> str:
    if security.token is None:
        return ""
    try:
        return security.token.read(os.environ).strip()
    except ConfigError as error:
        raise RefusedError(f"it wants a token, and {error}") from None


def _who(security: Security) -> str:
    return (
        f"{security.user} by {security.mechanism}" if security.user else f"the token of {security.mechanism}"
    )


def _said(message: str | None, code: int) -> str:
    """The broker's own words, which are for everybody."""
    text = (message or "").strip() or questions.words(code)
    return text[:_SAID_MAX] if text.isprintable() else ascii(text)[1:_SAID_MAX]
