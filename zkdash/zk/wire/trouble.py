"""The sentences an operator reads when ZooKeeper can't be reached or won't do: what, where, what to do."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.configuration.clusters import GSSAPI
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.identity import Identity
from zkdash.zk.wire import stream

_WORDS = {
    stream.Cause.UNRESOLVED: "the name of {server} can't be resolved",
    stream.Cause.UNREACHABLE: "{server} can't be reached ({detail})",
    stream.Cause.TIMED_OUT: "{server} does not answer",
    stream.Cause.NOT_ZOOKEEPER: "{server} does not speak ZooKeeper's protocol",
    stream.Cause.CLOSED: "{server} closes the connection",
    stream.Cause.SILENT: "{server} was silent for {detail} s",
    stream.Cause.TOO_LARGE: "{server} announced an answer of {detail} bytes, more than is taken",
    stream.Cause.UNTRUSTED: "the certificate of {server} is not accepted ({detail})",
    stream.Cause.NO_TLS: "{server} ends the TLS handshake ({detail})",
    stream.Cause.FILES: "{detail}",
}
_CHECK_TRUST = (
    "Check tls_ca, and that the server's certificate is in date and names the host as the address does"
)
_CHECK_TLS = "Check that the port is one for TLS, and tls_cert and tls_key where the server demands them"
_CHECKS = {stream.Cause.UNTRUSTED: _CHECK_TRUST, stream.Cause.NO_TLS: _CHECK_TLS}


def unreachable(config: ClusterConfig, reasons: Mapping[str, stream.Dropped], *, lost: bool) -> str:
    """No server answers; `reasons` holds the last failure of each, `lost` tells that one answered before."""
    causes = "; ".join(reason(dropped) for dropped in reasons.values())
    event = "The connection to ZooKeeper is lost" if lost else "No ZooKeeper answers"
    advice = _advice(config, reasons)
    return f"{event} at {config.address}: {causes}. {advice}; connecting is tried again for ever."


def none_reached(config: ClusterConfig, reasons: Mapping[str, stream.Dropped]) -> str:
    """No server answered who was asked once."""
    causes = "; ".join(reason(dropped) for dropped in reasons.values()) or "none did in time"
    return f"No ZooKeeper answers at {config.address}: {causes}. {_advice(config, reasons)}."


def _advice(config: ClusterConfig, reasons: Mapping[str, stream.Dropped]) -> str:
    causes = {dropped.cause for dropped in reasons.values()}
    for cause, advice in _CHECKS.items():
        if cause in causes:
            return advice
    if config.reading.tls is None and stream.Cause.CLOSED in causes:
        return "Check the address, that the servers run, and set tls = true where the port is one for TLS"
    return "Check the address and that the servers run"


def reason(dropped: stream.Dropped) -> str:
    """Why one server could not be had, as a clause that begins with its name."""
    return _WORDS[dropped.cause].format(server=dropped.server, detail=dropped.detail)


def expired(config: ClusterConfig) -> str:
    """The session is gone."""
    return f"The session with ZooKeeper at {config.address} expired; a new one is being opened."


def wrong_chroot(config: ClusterConfig) -> str:
    """The chroot does not exist, which is not the same as an empty cluster."""
    return (
        f"ZooKeeper at {config.address} has no znode {config.chroot}. Correct the chroot in the cluster's "
        "address, or start a broker that creates it; it is looked for every second."
    )


def unreadable_chroot(config: ClusterConfig) -> str:
    """exists of the chroot was refused."""
    return f"ZooKeeper at {config.address} refused to tell whether {config.chroot or '/'} exists."


def step_failed(config: ClusterConfig, step: str, code: int) -> str:
    """A request that every server of ours should answer was answered with an error."""
    return (
        f"ZooKeeper at {config.address} answered error {code} to the request to {step}. "
        "Where it demands authentication, set auth_scheme and auth_env or auth_file; it is tried again."
    )


def auth_failed(identity: Identity, server: str) -> str:
    """The server refused the credential, which is sent again."""
    return f"{auth_refused(identity, server).removesuffix('.')}; it is tried again."


def auth_refused(identity: Identity, server: str) -> str:
    """The server refused the credential."""
    if identity.mechanism == GSSAPI:
        return (
            f"ZooKeeper at {server} refused the authentication with SASL GSSAPI. See that there is a ticket "
            "(klist)."
        )
    with_, keys = identity.mechanism or repr(identity.scheme), identity.prefix
    return (
        f"ZooKeeper at {server} refused the authentication with {with_}. Correct {keys}auth_scheme, and user "
        f"and password in what {keys}auth_env or {keys}auth_file names."
    )


def failed(config: ClusterConfig) -> str:
    """Something of ours went wrong while an answer was taken in."""
    return (
        f"zkdash failed to take in what ZooKeeper at {config.address} answered, and reads everything again; "
        "its log says why."
    )


def no_read(path: str) -> str:
    """The reason of an Unreadable whose ACL leaves this session out."""
    return (
        f"Reading {path} was refused: its ACL gives this session no READ. "
        "Grant it, or set auth_scheme and auth_env or auth_file."
    )


def no_acl(path: str) -> str:
    """The reason of an Unreadable ACL that leaves this session out."""
    return (
        f"Reading the ACL of {path} was refused: it gives this session neither READ nor ADMIN. "
        "Grant one of them, or set auth_scheme and auth_env or auth_file."
    )


def failed_read(path: str, code: int) -> str:
    """The reason of an Unreadable for another error than NoAuth."""
    return f"Reading {path} failed with ZooKeeper's error {code}."


def silent(config: ClusterConfig) -> str:
    """A server took the connection, or the request, and did not answer within the limit."""
    return f"ZooKeeper at {config.address} did not answer in time. Check that the ensemble has a leader."


def malformed(config: ClusterConfig, why: str) -> str:
    """An answer that is not what the protocol says."""
    return f"ZooKeeper at {config.address} sent what cannot be understood: {why}."


def not_written(config: ClusterConfig, why: tuple[stream.Cause, str] | None = None) -> str:
    """No session that could write is to be had; `why` is what was wrong with the last connection."""
    cause_told, advice = "", "Check the address and that the servers run"
    if why is not None:
        cause, detail = why
        cause_told = ": " + _WORDS[cause].format(server="a server", detail=detail)
        advice = _CHECKS.get(cause, advice)
    return f"No ZooKeeper at {config.address} takes a write{cause_told}. {advice}."


def no_answer(config: ClusterConfig, why: str) -> str:
    """A write was sent and its answer never came."""
    return f"The connection to ZooKeeper at {config.address} was lost while it wrote ({why})."


def fence_lost(config: ClusterConfig) -> str:
    """A write by a writer that does not hold the fence (any more)."""
    return f"Nothing is written to {config.address}: the fence /zkdash/fence is not held."


def no_home(config: ClusterConfig, path: str) -> str:
    """Creating the znode for our own marks was refused."""
    return (
        f"ZooKeeper at {config.address} refuses to create {path}, where zkdash marks what it has written. "
        "Grant CREATE on the chroot, or set markers = false for the cluster."
    )


def masked(path: str) -> str:
    """What would be copied from the directory is shown in part only."""
    return f"the ACL of {path}, which it should get too, is not shown whole here; grant ADMIN there."
