"""The only writer: one multi at a time, at most once, with a marker by which its fate is known afterwards.

A multi is sent once and never again by itself, never inside `client.retry`. Beside what is to be written it
creates the step's marker and sets /zkdash/fence, comparing the version that this writer left there:

- Whoever takes the fence (sets it whatever its version) makes every multi that was sent before and has not
  been applied yet fail for ever, wherever it is on its way: writes have one total order, and a multi is
  applied whole or not at all. So a marker that is not there after the fence was taken will never be there.
  This needs no reasoning about sessions, servers or time, and the write does what `sync` would do as well:
  a session reads what it has written.
- A worker that was stopped (SIGSTOP, a long pause) while another took over cannot write any more.
- The set's answer carries the Stat, whose mzxid is the transaction of the whole multi.

Where the cluster's configuration says `markers = false` there is neither, and a lost answer stays unknown.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self

from kazoo import exceptions, security
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from zkdash.configuration.errors import ConfigError
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.identity import Identity
from zkdash.zk.wire import dialling, trouble
from zkdash.zk.writing import outcomes
from zkdash.zk.writing.outcomes import Committed, Fault, Fenced, Op, Outcome, Refused, Unknown, UnreachedError
from zkdash.znode import Operation

HOME = "/zkdash"
APPLIED = f"{HOME}/applied"
FENCE = f"{HOME}/fence"
CONNECT_LIMIT_S = 10.0
_MARGIN_S = 5.0
_GLANCE_S = 0.2
_GONE = (
    exceptions.ConnectionLoss,
    exceptions.ConnectionClosedError,
    exceptions.SessionExpiredError,
    exceptions.OperationTimeoutError,
    KazooTimeoutError,
)


class _Held(NamedTuple):
    """The fence as this writer left it; None where there is none to hold (markers = false)."""

    version: int | None


class Writer:
    """One session that writes. Not for several threads; a context that ends the session.

    `holder` is what the fence holds, for whoever looks at it. Once `leaving` is set no connection is waited
    for any more; the answer to a write is.
    """

    def __init__(
        self,
        config: ClusterConfig,
        *,
        holder: bytes = b"",
        leaving: threading.Event | None = None,
        connect_limit_s: float = CONNECT_LIMIT_S,
    ) -> None:
        self._config, self._holder = config, holder
        self._leaving = leaving or threading.Event()
        self._connect_limit_s = connect_limit_s
        # kazoo notices a silent server within the session's time-out
        self._limit_s = config.session_timeout_s + _MARGIN_S
        self._identity = Identity()
        self._client: dialling.Client | None = None
        self._held: _Held | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the session; what was sent on it and not answered may still be applied."""
        client, self._client, self._held = self._client, None, None
        if client is not None:
            try:
                client.stop()
                client.close()
            except exceptions.WriterNotClosedException:
                logging.getLogger(__name__).warning("A connection to ZooKeeper ends later")

    def take(self) -> None:
        """Make whatever an earlier writer has on its way fail. Raises UnreachedError."""
        self._held = None
        if not self._config.markers:
            self._held = _Held(None)
            return
        try:
            stat = self._get(self._there().set_async(FENCE, self._holder))
        except exceptions.NoNodeError:
            self._make_home()
            stat = self._get(self._there().set_async(FENCE, self._holder))
        self._held = _Held(stat.version)

    def look(self, marker: str) -> int | None:
        """The transaction that applied a step; None where it never was and never will be.

        Takes the fence, so that the answer holds for ever. Raises UnreachedError.
        """
        self.take()
        stat = self._get(self._there().exists_async(marker))
        return None if stat is None else int(stat.czxid)

    def commit(self, ops: Sequence[Op], marker: str | None) -> Outcome:
        """Send one multi, once. The fence must be held (`take`). Raises UnreachedError: nothing was sent."""
        if self._held is None:
            raise UnreachedError(trouble.fence_lost(self._config))
        prepared = self._prepared(ops)
        if isinstance(prepared, Refused):
            return prepared
        fence, transaction = self._held, self._there().transaction()
        beside = 0
        if fence.version is not None and marker is not None:
            transaction.set_data(FENCE, self._holder, version=fence.version)
            transaction.create(marker, b"", acl=self._acl())
            beside = 2
        for op, data, acl in prepared:
            _add(transaction, op, data, acl)
        try:
            answers = transaction.commit_async().get(timeout=self._limit_s)
        except (KazooException, KazooTimeoutError) as error:
            # an error of the whole request tells nothing for certain: who looks will know
            self.close()
            return Unknown(trouble.no_answer(self._config, type(error).__name__))
        return self._judged(ops, answers, beside, marker)

    def reap(self, markers: Iterable[str]) -> None:
        """Delete markers whose actions ended long ago. Raises UnreachedError."""
        for marker in markers:
            try:
                self._get(self._there().delete_async(marker))
            except exceptions.NoNodeError:
                continue

    def _judged(self, ops: Sequence[Op], answers: Sequence[Any], beside: int, marker: str | None) -> Outcome:
        first = outcomes.first_fault(answers)
        if first is None:
            self._held = _Held(answers[0].version if beside else None)
            return Committed(outcomes.transaction(answers))
        index, error = first
        if beside and index == 0:
            self._held = None
            return Fenced()
        if beside and index == 1 and marker is not None:
            zxid = self.look(marker)
            return (
                Unknown(trouble.no_answer(self._config, error.__name__)) if zxid is None else Committed(zxid)
            )
        op = ops[index - beside]
        return Refused(index - beside, outcomes.fault(error), outcomes.sentence(op, error))

    def _prepared(self, ops: Sequence[Op]) -> list[tuple[Op, bytes, Any]] | Refused:
        """Each operation with its data and, where it creates, the ACL of what it is created in."""
        prepared: list[tuple[Op, bytes, Any]] = []
        acls: dict[str, Any] = {}
        for index, op in enumerate(ops):
            data = op.data or b""
            if op.edit is not None:
                edited = self._edited(op, op.edit)
                if isinstance(edited, Refused):
                    return edited._replace(at=index)
                data = edited
            acl = None
            if op.operation is Operation.CREATE:
                parent = op.path.rpartition("/")[0] or "/"
                acl = acls[op.path] = self._acl_below(parent, acls)
                if _is_masked(acl):
                    reason = f"{op.path} is not created: {trouble.masked(parent)}"
                    return Refused(index, Fault.NO_AUTH, reason)
            prepared.append((op, data, acl))
        return prepared

    def _edited(self, op: Op, edit: Callable[[bytes | None], bytes]) -> bytes | Refused:
        """What is there, changed: the full bytes are known here only."""
        now: bytes | None = None
        if op.operation is Operation.SET:
            try:
                now, stat = self._get(self._there().get_async(op.path))
            except KazooException as error:
                return Refused(0, outcomes.fault(type(error)), outcomes.sentence(op, type(error)))
            if stat.version != op.version:
                return Refused(0, Fault.VERSION, outcomes.sentence(op, exceptions.BadVersionError))
        try:
            return edit(now)
        except ValueError as error:
            return Refused(0, Fault.OTHER, f"{op.path} cannot be edited: {error}.")

    def _acl_below(self, parent: str, acls: dict[str, Any]) -> Any:
        """Children get their directory's ACL, as Kafka's do, so that brokers may go on with them."""
        if parent not in acls:
            try:
                acls[parent], _ = self._get(self._there().get_acls_async(parent))
            except KazooException:
                acls[parent] = security.OPEN_ACL_UNSAFE
        return acls[parent]

    def _acl(self) -> Any:
        """Of our own znodes: all to this identity and READ to the world; all to everyone without one."""
        if self._identity.scheme is None:
            return security.OPEN_ACL_UNSAFE
        return [*security.CREATOR_ALL_ACL, *security.READ_ACL_UNSAFE]

    def _make_home(self) -> None:
        for path in (HOME, APPLIED, FENCE):
            try:
                self._get(self._there().create_async(path, b"", acl=self._acl()))
            except exceptions.NodeExistsError:
                continue
            except exceptions.NoNodeError:
                raise UnreachedError(trouble.wrong_chroot(self._config)) from None
            except exceptions.NoAuthError:
                raise UnreachedError(trouble.no_home(self._config, HOME)) from None

    def _there(self) -> dialling.Client:
        """The connected client; another one where there is none, or it lost its session."""
        if self._client is None:
            self._client = self._opened()
        return self._client

    def _opened(self) -> dialling.Client:
        config = self._config
        try:
            self._identity = config.writing
        except ConfigError as error:
            raise UnreachedError(str(error)) from error
        client = dialling.Client(config, self._identity)
        client.start_async()
        deadline = time.monotonic() + self._connect_limit_s
        while time.monotonic() < deadline and not self._leaving.is_set() and not client.refused:
            if client.judged.wait(_GLANCE_S) and client.connected:
                return client
        client.stop()
        client.close()
        if client.refused:
            raise UnreachedError(self._refused())
        failure = client.handler.failure
        why = None if failure is None else dialling.explain(failure)
        raise UnreachedError(trouble.not_written(config, why))

    def _refused(self) -> str:
        return trouble.auth_failed(self._identity, self._config.address)

    def _get(self, request: Any) -> Any:
        """The answer to a request that may be repeated; kazoo's errors about a znode pass."""
        try:
            return request.get(timeout=self._limit_s)
        except (*_GONE, exceptions.AuthFailedError) as error:
            refused = self._client is not None and self._client.refused
            self.close()
            why = self._refused() if refused else trouble.not_written(self._config)
            raise UnreachedError(why) from error


def _is_masked(acl: Any) -> bool:
    """ZooKeeper 3.4.14 and 3.5.5 on show digests to those alone who have ADMIN, and "user:x" to others."""
    return any(entry.id.scheme == "digest" and entry.id.id.endswith(":x") for entry in acl)


def _add(transaction: Any, op: Op, data: bytes, acl: Any) -> None:
    version = -1 if op.version is None else op.version
    match op.operation:
        case Operation.CREATE:
            transaction.create(op.path, data, acl=acl, sequence=op.sequential)
        case Operation.SET:
            transaction.set_data(op.path, data, version=version)
        case Operation.DELETE:
            transaction.delete(op.path, version=version)
        case Operation.CHECK:
            transaction.check(op.path, version)
