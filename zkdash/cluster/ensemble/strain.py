"""What each server's own numbers say of it at one look."""

from __future__ import annotations

from collections.abc import Iterator

from zkdash.cluster.ensemble import advisories
from zkdash.cluster.ensemble.values import Ailment, Thresholds
from zkdash.cluster.model.tone import Tone
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
            yield Ailment("down", Tone.WARNING, f"{server.reason}.", name)
        case Reach.STRANGE:
            yield Ailment("strange", Tone.WARNING, f"{name} does not answer as ZooKeeper does.", name)
        case Reach.NOT_SERVING:
            what = "lives but serves nobody: it is part of no quorum"
            yield Ailment("not-serving", Tone.WARNING, f"{name} {what}.", name)
        case Reach.NOT_ALLOWED:
            what = f"is up, and its whitelist keeps it from telling how it is: {_REMEDY}"
            yield Ailment("not-allowed", Tone.INFO, f"{name} {what}.", name)
        case Reach.UNASKED:
            what = "tells no port for clients in /zookeeper/config, and is not asked"
            yield Ailment("unasked", Tone.INFO, f"{name} {what}.", name)
    if server.reach is Reach.SERVING and server.refused:
        refused = " and ".join(server.refused)
        yield Ailment("not-allowed", Tone.INFO, f"{name} does not allow {refused}: {_REMEDY}.", name)
    if server.is_read_only or server.told.mode == "read-only":
        yield Ailment("read-only", Tone.WARNING, f"{name} is read-only: it lost its quorum.", name)


def _strained(server: Server, limits: Thresholds) -> Iterator[Ailment]:
    told, name = server.told, server.address
    if told.latency_avg is not None and told.latency_avg > limits.latency_ms:
        yield Ailment(
            "latency",
            Tone.WARNING,
            f"{name} answers in {told.latency_avg:.3g} ms on average since it started, over "
            f"{limits.latency_ms:g} ms.",
            name,
        )
    if told.descriptors is not None and told.max_descriptors:
        percent = 100 * told.descriptors / told.max_descriptors
        if percent > limits.descriptors_percent:
            yield Ailment(
                "descriptors",
                Tone.WARNING,
                f"{name} has {told.descriptors} of {told.max_descriptors} file descriptors open, "
                f"{percent:.0f} %: with none left it takes no connection.",
                name,
            )
    if told.max_proposal is not None:
        percent = 100 * told.max_proposal / limits.buffer_bytes
        if percent >= limits.buffer_percent:
            yield Ailment(
                "buffer",
                Tone.WARNING,
                f"{name} had to propose {told.max_proposal} bytes at once, {percent:.0f} % of the default of "
                "jute.maxbuffer: what is larger is refused.",
                name,
            )


def _versions(look: Look) -> Iterator[Ailment]:
    found: dict[str, list[str]] = {}
    for server in look.servers:
        if server.told.version is not None:
            found.setdefault(server.told.version, []).append(server.address)
    if len(found) > 1:
        told = "; ".join(f"{version} on {', '.join(names)}" for version, names in sorted(found.items()))
        yield Ailment("versions", Tone.INFO, f"The servers run different versions: {told}.")
    for version, names in sorted(found.items()):
        for one in advisories.of(version):
            what = f"has {one.cve}: {one.what}; closed in {one.remedy}"
            yield Ailment(one.cve, Tone.WARNING, f"ZooKeeper {version} ({', '.join(names)}) {what}.")
