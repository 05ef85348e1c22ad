"""One connection to one broker: a question, its answer, and a time limit for each.

Over TLS and after SASL, where the cluster's brokers want them. Nothing that the other side sends is trusted:
an answer longer than its question allows is not read, and what cannot be decoded is a reason.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from typing import Any

from zkdash import tls
from zkdash.broker.endpoints import Endpoint
from zkdash.broker.questions import UNDECODABLE, Question
from zkdash.broker.resolver import Resolver
from zkdash.broker.security import sasl
from zkdash.configuration.brokers import IN_THE_CLEAR, Security

CLIENT_ID = "zkdash"

_LENGTH = struct.Struct("!i")

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class TroubleError(Exception):
    """The broker could not be asked; the message is a clause that names the address."""


class TooLongError(TroubleError):
    """The answer is longer than the question allows."""


class Link:
    """A connection that opens at the first question and again after trouble."""

    def __init__(
        self,
        endpoint: Endpoint,
        resolver: Resolver,
        *,
        limit_s: float,
        security: Security = IN_THE_CLEAR,
    ) -> None:
        self._endpoint = endpoint
        self._resolver = resolver
        self._limit_s = limit_s
        self._security = security
        self._streams: Streams | None = None
        self._correlation = 0
        self._has_answered = False

    async def connect(self) -> None:
        """Have a connection, where there is none. Raises TroubleError."""
        try:
            await self._connected()
        except (OSError, asyncio.IncompleteReadError) as error:
            self.close()
            raise TroubleError(self._worded(error)) from error
        except BaseException:
            self.close()
            raise

    async def ask(self, question: Question) -> Any:
        """Return the decoded answer. Raises TroubleError, with the connection closed.

        A connection that was idle may have been closed by the broker (connections.max.idle.ms): that is no
        trouble, the question is asked again on a new one.
        """
        kept = self._has_answered
        try:
            try:
                answer = await self._exchange(question)
            except (ConnectionError, asyncio.IncompleteReadError):
                self.close()
                if not kept:
                    raise
                answer = await self._exchange(question)
        except (OSError, asyncio.IncompleteReadError) as error:
            self.close()
            raise TroubleError(self._worded(error)) from error
        except BaseException:
            self.close()  # a half-read answer must not meet the next question
            raise
        self._has_answered = True
        return answer

    def close(self) -> None:
        """Drop the connection; what was not sent is lost, which only questions are."""
        self._has_answered = False
        if self._streams:
            self._streams[1].transport.abort()
            self._streams = None

    async def _exchange(self, question: Question) -> Any:
        return await self._asked(await self._connected(), question)

    async def _asked(self, streams: Streams, question: Question) -> Any:
        sent = self._encoded(question)
        return self._decoded(question, await self._sent(streams, sent, question.max_bytes, _LENGTH.size))

    async def _sent(self, streams: Streams, frame: bytes, most: int, least: int) -> bytes:
        """The frame that answers this one, without its length."""
        reader, writer = streams
        try:
            async with asyncio.timeout(self._limit_s):
                writer.write(frame)
                await writer.drain()
                (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
                if not least <= length <= most:
                    raise TooLongError(
                        f"{self._endpoint} announces an answer of {length} bytes, "
                        f"where {least} to {most} belong: is it a Kafka broker?"
                    )
                return await reader.readexactly(length)
        except TimeoutError:
            raise TroubleError(f"no answer from {self._endpoint} within {self._limit_s:g} s") from None

    async def _connected(self) -> Streams:
        """The connection, authenticated; a new one where there is none."""
        if self._streams is None:
            streams = self._streams = await self._open()
            if self._security.mechanism:
                await self._authenticate(streams)
        return self._streams

    async def _authenticate(self, streams: Streams) -> None:
        async def send_bare(token: bytes) -> bytes:
            return await self._sent(streams, sasl.framed(token), sasl.MOST_BYTES, 0)

        try:
            await sasl.authenticate(
                self._security, lambda question: self._asked(streams, question), send_bare
            )
        except sasl.RefusedError as refusal:
            raise TroubleError(f"not authenticated at {self._endpoint}: {refusal}") from None
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            mechanism = self._security.mechanism
            raise TroubleError(
                f"{self._endpoint} closed the connection while we authenticated by {mechanism}"
            ) from error

    async def _open(self) -> Streams:
        context = None if self._security.tls is None else tls.context(self._security.tls)
        try:
            async with asyncio.timeout(self._limit_s):
                addresses = await self._resolver.resolve(self._endpoint.host)
                return await self._first(addresses, context)
        except TimeoutError:
            raise TroubleError(f"no connection to {self._endpoint} within {self._limit_s:g} s") from None

    async def _first(self, addresses: list[str], context: ssl.SSLContext | None) -> Streams:
        """The first address that takes the connection, as a name like localhost may have two."""
        for address in addresses[:-1]:
            try:
                return await self._dialled(address, context)
            except OSError:
                continue
        return await self._dialled(addresses[-1], context)

    async def _dialled(self, address: str, context: ssl.SSLContext | None) -> Streams:
        # a scope ("%eth0") is this machine's, and in no certificate
        name = None if context is None else self._endpoint.host.partition("%")[0]
        return await asyncio.open_connection(address, self._endpoint.port, ssl=context, server_hostname=name)

    def _encoded(self, question: Question) -> bytes:
        self._correlation = (self._correlation + 1) % (1 << 31)
        question.request.API_VERSION = question.version
        question.request.with_header(correlation_id=self._correlation, client_id=CLIENT_ID)
        frame: bytes = question.request.encode(header=True, framed=True)
        return frame

    def _decoded(self, question: Question, answer: bytes) -> Any:
        (correlation,) = _LENGTH.unpack_from(answer)
        if correlation != self._correlation:
            raise TroubleError(f"{self._endpoint} answers another question than was asked")
        try:
            return question.answer.decode(answer, version=question.version, header=True)
        except UNDECODABLE:
            raise TroubleError(f"{self._endpoint} answers with bytes that are no Kafka answer") from None

    def _worded(self, error: OSError | asyncio.IncompleteReadError) -> str:
        if isinstance(error, ConnectionRefusedError):
            return f"connection refused at {self._endpoint}"
        if isinstance(error, tls.FilesError):
            return f"{self._endpoint} is not dialled: {error.strerror}"
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"the certificate of {self._endpoint} is not accepted ({tls.words(error)})"
        if isinstance(error, ssl.SSLError):
            return f"{self._endpoint} ends the TLS handshake ({tls.words(error)})"
        if isinstance(error, asyncio.IncompleteReadError | ConnectionError):
            return f"{self._endpoint} closed the connection"
        return f"{error.strerror or error} at {self._endpoint}"
