"""What is wrong with single servers at one look: unreachable, read-only, slow, near a limit, or old."""

from __future__ import annotations

from collections.abc import Iterator

from zkdash.cluster.ensemble import advisories
from zkdash.cluster.ensemble.values import Ailment, Thresholds
from zkdash.cluster.model.severity import Severity
from zkdash.formats.ensemble.values import Look, Reach, Server

_REMEDY = "allow it srvr, mntr and isro by 4lw.commands.whitelist"


def judge(look: Look, limits: Thresholds) -> Iterator[Ailment]:
    """What is wrong with single servers, and with their versions together."""
    for server in look.servers:
        yield from _reached(server)
        yield from _strained(server, limits)
    yield from _versions(look)


def _reached(server: Server) -> Iterator[Ailment]:
    name = server.address
    match server.reach:
        case Reach.DOWN:
            yield Ailment("down", Severity.WARNING, f"{server.reason}.", name)
        case Reach.STRANGE:
            yield Ailment("strange", Severity.WARNING, f"{name} does not answer as ZooKeeper does.", name)
        case Reach.NOT_SERVING:
            what = "lives but serves nobody: it is part of no quorum"
            yield Ailment("not-serving", Severity.WARNING, f"{name} {what}.", name)
        case Reach.NOT_ALLOWED:
            what = f"is up, and its whitelist keeps it from telling how it is: {_REMEDY}"
            yield Ailment("not-allowed", Severity.INFO, f"{name} {what}.", name)
        case Reach.UNASKED:
            what = "tells no port for clients in /zookeeper/config, and is not asked"
            yield Ailment("unasked", Severity.INFO, f"{name} {what}.", name)
    if server.reach is Reach.SERVING and server.refused:
        refused = " and ".join(server.refused)
        yield Ailment("not-allowed", Severity.INFO, f"{name} does not allow {refused}: {_REMEDY}.", name)
    if server.is_read_only or server.told.mode == "read-only":
        yield Ailment("read-only", Severity.WARNING, f"{name} is read-only: it lost its quorum.", name)


def _strained(server: Server, limits: Thresholds) -> Iterator[Ailment]:
    answer, name = server.told, server.address
    if answer.latency_avg is not None and answer.latency_avg > limits.latency_ms:
        yield Ailment(
            "latency",
            Severity.WARNING,
            f"{name} answers in {answer.latency_avg:.3g} ms on average since it started, over "
            f"{limits.latency_ms:g} ms.",
            name,
        )
    if answer.descriptors is not None and answer.max_descriptors:
        percent = 100 * answer.descriptors / answer.max_descriptors
        if percent > limits.descriptors_percent:
            yield Ailment(
                "descriptors",
                Severity.WARNING,
                f"{name} has {answer.descriptors} of {answer.max_descriptors} file descriptors open, "
                f"{percent:.0f} %: with none left it takes no connection.",
                name,
            )
    if answer.max_proposal is not None:
        percent = 100 * answer.max_proposal / limits.buffer_bytes
        if percent >= limits.buffer_percent:
            yield Ailment(
                "buffer",
                Severity.WARNING,
                f"{name} had to propose {answer.max_proposal} bytes at once, {percent:.0f} % of the default "
                "of jute.maxbuffer: what is larger is refused.",
                name,
            )


def _versions(look: Look) -> Iterator[Ailment]:
    by_version: dict[str, list[str]] = {}
    for server in look.servers:
        if server.told.version is not None:
            by_version.setdefault(server.told.version, []).append(server.address)
    if len(by_version) > 1:
        versions = "; ".join(
            f"{version} on {', '.join(names)}" for version, names in sorted(by_version.items())
        )
        yield Ailment("versions", Severity.INFO, f"The servers run different versions: {versions}.")
    for version, names in sorted(by_version.items()):
        for advisory in advisories.of(version):
            what = f"has {advisory.cve}: {advisory.what}; closed in {advisory.remedy}"
            yield Ailment(advisory.cve, Severity.WARNING, f"ZooKeeper {version} ({', '.join(names)}) {what}.")
