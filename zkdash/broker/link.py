"""One connection to one broker: a question, its answer, and a time limit for each.

Nothing that the other side sends is trusted: an answer longer than its question allows is not read, and what
cannot be decoded is a reason.
"""

from __future__ import annotations

import asyncio
import struct
from typing import Any

from zkdash.broker.endpoints import Endpoint
from zkdash.broker.questions import UNDECODABLE, Question
from zkdash.broker.resolver import Resolver

CLIENT_ID = "zkdash"

_LENGTH = struct.Struct("!i")


class TroubleError(Exception):
    """The broker could not be asked; the message is a clause that names the address."""


class TooLongError(TroubleError):
    """The answer is longer than the question allows."""


class Link:
    """A connection that opens at the first question and again after trouble."""

    def __init__(self, endpoint: Endpoint, resolver: Resolver, *, limit_s: float) -> None:
        self._endpoint = endpoint
        self._resolver = resolver
        self._limit_s = limit_s
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._correlation = 0
        self._has_answered = False

    async def connect(self) -> None:
        """Have a connection, where there is none. Raises TroubleError."""
        try:
            if self._streams is None:
                self._streams = await self._open()
        except OSError as error:
            raise TroubleError(self._worded(error)) from error

    async def ask(self, question: Question) -> Any:
        """Return the decoded answer. Raises TroubleError, with the connection closed.

        A connection that was idle may have been closed by the broker (connections.max.idle.ms): that is no
        trouble, the question is asked again on a new one.
        """
        kept = self._has_answered
        try:
            try:
                return await self._exchange(question)
            except (ConnectionError, asyncio.IncompleteReadError):
                self.close()
                if not kept:
                    raise
                return await self._exchange(question)
        except (OSError, asyncio.IncompleteReadError) as error:
            self.close()
            raise TroubleError(self._worded(error)) from error
        except BaseException:
            self.close()  # a half-read answer must not meet the next question
            raise

    def close(self) -> None:
        """Drop the connection; what was not sent is lost, which only questions are."""
        self._has_answered = False
        if self._streams:
            self._streams[1].transport.abort()
            self._streams = None

    async def _exchange(self, question: Question) -> Any:
        if self._streams is None:
            self._streams = await self._open()
        reader, writer = self._streams
        try:
            async with asyncio.timeout(self._limit_s):
                writer.write(self._encoded(question))
                await writer.drain()
                (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
                if not _LENGTH.size <= length <= question.max_bytes:
                    raise TooLongError(
                        f"{self._endpoint} announces an answer of {length} bytes, "
                        f"where {_LENGTH.size} to {question.max_bytes} belong: is it a Kafka broker?"
                    )
                answer = await reader.readexactly(length)
                self._has_answered = True
        except TimeoutError:
            raise TroubleError(f"no answer from {self._endpoint} within {self._limit_s:g} s") from None
        return self._decoded(question, answer)

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            async with asyncio.timeout(self._limit_s):
                addresses = await self._resolver.resolve(self._endpoint.host)
                return await self._first(addresses)
        except TimeoutError:
            raise TroubleError(f"no connection to {self._endpoint} within {self._limit_s:g} s") from None

    async def _first(self, addresses: list[str]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The first address that takes the connection, as a name like localhost may have two."""
        for address in addresses[:-1]:
            try:
                return await asyncio.open_connection(address, self._endpoint.port)
            except OSError:
                continue
        return await asyncio.open_connection(addresses[-1], self._endpoint.port)

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
        if isinstance(error, asyncio.IncompleteReadError | ConnectionError):
            return f"{self._endpoint} closed the connection"
        return f"{error.strerror or error} at {self._endpoint}"
