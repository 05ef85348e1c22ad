"""Requests of others on the mirror's session, and how much of these it carries.

What comes for the apply thread is handed on as it is; answers to questions that were asked here are taken out
before, so that whoever asked waits for them on a thread of its own.
"""

from __future__ import annotations

import itertools
import queue
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from zkdash.zk.wire import jute, stream

LIMIT_S = 3.0
# Nothing else may be asked: the mirror's session never writes.
READING: Final = frozenset({jute.EXISTS, jute.GET_DATA, jute.GET_ACL, jute.GET_CHILDREN})
_ENDS = frozenset({stream.Dropped, stream.Expired, stream.AuthFailed, stream.Ended})
_REPLY = 4 + jute.REPLY_HEADER.size

Entry = tuple[int, Sequence[Any]]  # a contact's number, and what it reported


class Carried(msgspec.Struct, frozen=True):
    """What a mirror's sessions carried so far: requests answered, watch events, bytes received."""

    requests: int = 0
    events: int = 0
    received: int = 0


class Question(NamedTuple):
    """One request: an opcode of `READING`, and its body, whose path is a whole one."""

    opcode: int
    body: bytes


class _Token(NamedTuple):
    """Names a question of ours among the mirror's own."""

    round: int
    at: int


class SideRequests:
    """See the module. `put` hands an entry to the apply thread."""

    def __init__(self, put: Callable[[Entry], None]) -> None:
        self._hand_on = put
        self._send: Callable[[int, bytes, Any], None] | None = None
        self._rounds = itertools.count(1)
        self._waiting: dict[int, queue.SimpleQueue[stream.Reply | None]] = {}
        self._up = 0
        self._requests = self._events = self._received = 0

    def through(self, send: Callable[[int, bytes, Any], None]) -> None:
        """Say how a request is sent: `send(opcode, body, token)`, from any thread."""
        self._send = send

    @property
    def carried(self) -> Carried:
        """The counts so far; from any thread."""
        return Carried(self._requests, self._events, self._received)

    def put(self, entry: Entry) -> None:
        """Take what a connection, or a probe, reported."""
        number, items = entry
        others = [item for item in items if not self._take(number, item)]
        if others:
            self._hand_on((number, others))

    def ask(self, questions: Sequence[Question], limit_s: float = LIMIT_S) -> list[stream.Reply] | None:
        """The answers, in order; None where not all came in time. Blocks; from any thread."""
        if not all(question.opcode in READING for question in questions):
            raise ValueError("only what reads may be asked on the mirror's session")
        number, deadline = next(self._rounds), time.monotonic() + limit_s
        answers = self._waiting[number] = queue.SimpleQueue()
        try:
            if self._send is None or not self._up:
                return None
            for at, question in enumerate(questions):
                self._send(question.opcode, question.body, _Token(number, at))
            replies: dict[int, stream.Reply] = {}
            while len(replies) < len(questions):
                reply = answers.get(timeout=max(0.0, deadline - time.monotonic()))
                if reply is None:
                    return None
                replies[reply.token.at] = reply
        except queue.Empty:
            return None
        finally:
            del self._waiting[number]
        return [replies[at] for at in range(len(questions))]

    def _take(self, number: int, item: Any) -> bool:
        """Count an item, and keep it where it answers one of our own questions."""
        kind = type(item)
        if kind is stream.Reply:
            self._requests += 1
            self._received += _REPLY + len(item.body)
            if type(item.token) is _Token:
                asker = self._waiting.get(item.token.round)
                if asker is not None:
                    asker.put(item)
                return True
        elif kind is stream.Replies:
            self._requests += len(item.answers)
            sizes = [len(answer) for answer in item.answers if not isinstance(answer, int)]
            self._received += _REPLY * len(item.answers) + sum(sizes)
        elif kind is stream.Event:
            self._events += 1
            self._received += _REPLY + len(item.body)
        elif kind is stream.Connected:
            self._up = number
        elif kind in _ENDS and number == self._up:
            # let nobody wait for what will not come any more
            self._up = 0
            for asker in tuple(self._waiting.values()):
                asker.put(None)
        return False
