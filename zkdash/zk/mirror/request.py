"""The requests for a read of the store, and their answers: one MultiRead, or a request for each znode.

ZooKeeper before 3.6 knows neither MultiRead nor persistent watches: there many requests go out in one go,
each leaves a one-shot watch, and their answers are taken as one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from zkdash.zk.mirror import reading
from zkdash.zk.mirror.stale_paths import Watch
from zkdash.zk.mirror.znode_store import Listings, Results, ZnodeStore
from zkdash.zk.wire import answers, jute, stream

Wanted = reading.Read | Watch

_EVENTS = frozenset({jute.CREATED, jute.DELETED, jute.CHANGED, jute.CHILDREN_CHANGED})


class Sender(Protocol):
    """A connection that requests go out on."""

    def send(self, opcode: int, body: bytes, token: Any) -> None:
        """Send a request."""

    def send_each(self, requests: Sequence[tuple[int, bytes]], token: Any) -> None:
        """Send many requests whose answers are awaited as one."""


def send(sender: Sender, full: Callable[[str], bytes], wanted: Wanted, *, is_one_shot: bool) -> None:
    """Ask for what is wanted, with itself as the token; `full` gives a path as ZooKeeper knows it."""
    if isinstance(wanted, Watch):
        paths = ([full(path) for path in some] for some in (wanted.data, wanted.exist, wanted.child))
        sender.send(jute.SET_WATCHES, jute.set_watches(wanted.floor, *paths), wanted)
    elif is_one_shot:
        sender.send_each(jute.each(map(full, wanted.gets), map(full, wanted.lists), watch=True), wanted)
    else:
        body = jute.multi_read(map(full, wanted.gets), map(full, wanted.lists))
        sender.send(jute.MULTI_READ, body, wanted)


def answer(image: ZnodeStore, item: stream.Reply | stream.Replies, now: float) -> None:
    """Hand the answer to what was sent here to the image. Raises jute.MalformedError."""
    wanted = item.token
    if isinstance(wanted, Watch):
        if isinstance(item, stream.Reply) and item.error:
            raise jute.MalformedError(f"setWatches was answered with error {item.error}")
        image.watched(wanted, item.zxid)
    else:
        znodes, listings = results(wanted, item)
        image.answer(wanted, znodes, listings, item.zxid, now)


def results(read: reading.Read, item: stream.Reply | stream.Replies) -> tuple[Results, Listings]:
    """Decode the answer to a Read: an error is its (negative) code. Raises jute.MalformedError."""
    gets, lists = len(read.gets), len(read.lists)
    if isinstance(item, stream.Reply):
        if item.error:
            raise jute.MalformedError(f"MultiRead was answered with error {item.error}")
        return jute.read_multi(item.body, gets, lists)
    if len(item.answers) != gets + lists:
        raise jute.MalformedError("there are not as many answers as requests")
    znodes = [answer if isinstance(answer, int) else answers.data(answer) for answer in item.answers[:gets]]
    return znodes, [
        answer if isinstance(answer, int) else answers.children(answer) for answer in item.answers[gets:]
    ]


def event(image: ZnodeStore, chroot: jute.Chroot, item: stream.Event, now: float) -> None:
    """Hand a watch event to the image; one from outside of the chroot is none. Raises jute.MalformedError."""
    kind, full = jute.read_event(item.body)
    if kind not in _EVENTS:
        raise jute.MalformedError(f"a watch event has the type {kind}")
    path = chroot.strip(full)
    if path is None:
        return
    if kind == jute.CHILDREN_CHANGED:
        image.children_changed(path, item.zxid)
    else:
        image.event(path, item.zxid, now)
