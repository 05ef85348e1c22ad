"""Each cluster: do its servers answer, is its chroot there, what may the identities read and write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from zkdash.configuration.errors import ConfigError
from zkdash.formats.ensemble.values import Reach, Server
from zkdash.kafka import paths, secure_root_paths
from zkdash.management.verifying.finding import Finding, State
from zkdash.zk import trial
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.identity import Identity
from zkdash.zk.ensemble.round import Round
from zkdash.zk.writing.writer import HOME

_PATHS = ("/", *secure_root_paths.PATHS)
# Right below these actions create, set and delete.
_WRITTEN = (
    "/admin",
    paths.DELETIONS,
    paths.TOPICS,
    paths.CONFIG_CHANGES,
    paths.TOPIC_CONFIGS,
    paths.CONSUMERS,
)
_CHANGE = trial.WRITE | trial.CREATE | trial.DELETE
_SHOWN = 5


def doubles(clusters: Sequence[ClusterConfig]) -> list[Finding]:
    """Names that are of one cluster: the same chroot on a server that both name."""
    doubled = []
    for number, cluster in enumerate(clusters):
        for other in clusters[:number]:
            if cluster.chroot == other.chroot and set(cluster.servers) & set(other.servers):
                sentence = (
                    f"{other.name} and {cluster.name} are the same cluster: one chroot of the same servers."
                )
                remedy = "Leave one of them out: each is watched, recorded and told of by itself."
                doubled.append(Finding("clusters", State.WARNING, sentence, remedy))
    return doubled


def servers(cluster: ClusterConfig) -> list[Finding]:
    """Each server of the address, by ZooKeeper's four-letter words."""
    subject = f"cluster {cluster.name}: servers"
    answers = Round(cluster).ask(None)
    down = [server for server in answers if server.reach in {Reach.DOWN, Reach.STRANGE}]
    sentence = "; ".join(map(_worded, answers))
    if len(down) == len(answers):
        return [
            Finding(
                subject, State.WRONG, f"{sentence}.", "Check the cluster's address and that the servers run."
            )
        ]
    if any(server.reach is not Reach.SERVING for server in answers):
        remedy = "See to the servers named; 4lw.commands.whitelist=srvr,mntr,isro lets a server tell more."
        return [Finding(subject, State.WARNING, f"{sentence}.", remedy)]
    return [Finding(subject, State.OK, f"{sentence}.")]


def session(cluster: ClusterConfig) -> list[Finding]:
    """A session as who reads, another as who writes where that is another, and what the ACLs grant them."""
    subject = f"cluster {cluster.name}: session"
    try:
        look = trial.run(cluster, cluster.reading, _PATHS)
    except trial.TrialError as error:
        return [Finding(subject, State.WRONG, str(error))]
    if not look.has_chroot:
        sentence = f"{look.server} answers, and has no znode {cluster.chroot}."
        remedy = "Correct the chroot in the cluster's address, or start a broker, which creates it."
        return [Finding(subject, State.WRONG, sentence, _meant(look.others) + remedy)]
    kafka = [access.path for access in look.access if access.path != "/"]
    as_whom = trial.describe(cluster.reading)
    session_told = f"{look.server} answers {as_whom} at {cluster.chroot or '/'}"
    if not kafka:
        remedy = "A broker makes its znodes when it starts: check the chroot of the address if one runs."
        sentence = f"{session_told}, where nothing is of Kafka."
        return [Finding(subject, State.WARNING, sentence, _meant(look.others) + remedy)]
    first = Finding(subject, State.OK, f"{session_told}.")
    return [first, _reading(cluster, look.access), *_writing(cluster, look.access)]


def _meant(chroots: Sequence[str]) -> str:
    """The beginning of a remedy where brokers register elsewhere on the same servers."""
    return f"Is {_listed(chroots)} meant, where brokers register? " if chroots else ""


def _worded(server: Server) -> str:
    if server.reach is Reach.SERVING:
        version = server.told.version or "of an untold version"
        return f"{server.address} serves ({', '.join(filter(None, (version, server.told.mode)))})"
    if server.reach is Reach.NOT_ALLOWED:
        return f"{server.address} runs and may not tell of itself"
    return server.reason or f"{server.address} is {server.reach.value}"


def _reading(cluster: ClusterConfig, access: Sequence[trial.Access]) -> Finding:
    subject, as_whom = f"cluster {cluster.name}: reading", trial.describe(cluster.reading)
    refused = [znode.path for znode in access if not znode.may_read]
    if not refused:
        return Finding(subject, State.OK, f"{as_whom} may read all {len(access)} directories of Kafka.")
    sentence = f"{as_whom} may not read {_listed(refused)} ({len(refused)} of {len(access)})."
    remedy = "Grant READ there, or correct auth_scheme and auth_env or auth_file."
    return Finding(subject, State.WARNING, sentence, remedy)


def _writing(cluster: ClusterConfig, as_reader: Sequence[trial.Access]) -> Iterator[Finding]:
    subject = f"cluster {cluster.name}: writing"
    try:
        identity = cluster.writing
        access = as_reader if cluster.sealed is None else trial.run(cluster, identity, _PATHS).access
    except (ConfigError, trial.TrialError) as error:
        yield Finding(subject, State.WRONG, str(error), "Until then no action can be carried out.")
        return
    yield _granted(subject, cluster, identity, _needed(cluster, access))


def _needed(cluster: ClusterConfig, access: Iterable[trial.Access]) -> list[tuple[trial.Access, int]]:
    """The directories that are there and that actions write in, with the permissions needed."""
    needed = dict.fromkeys(_WRITTEN, _CHANGE) | ({"/": trial.CREATE} if cluster.markers else {})
    return [(znode, needed[znode.path]) for znode in access if znode.path in needed]


def _granted(
    subject: str, cluster: ClusterConfig, identity: Identity, needed: Sequence[tuple[trial.Access, int]]
) -> Finding:
    as_whom = trial.describe(identity)
    refused = [znode.path for znode, perms in needed if perms & ~(znode.granted | znode.unsure)]
    unsure = [znode.path for znode, perms in needed if perms & znode.unsure]
    if not refused and not unsure:
        sentence = f"{as_whom} may write all {len(needed)} places that actions write in."
        return Finding(subject, State.OK, sentence)
    home = f" ({HOME} is made in /, unless markers = false)" if "/" in refused else ""
    if not refused:
        sentence = f"What {as_whom} may write in {_listed(unsure)} cannot be told by the ACLs."
        return Finding(subject, State.WARNING, sentence, "An action's review tells it before it is done.")
    sentence = f"{as_whom} may not write in {_listed(refused)}{home} ({len(refused)} of {len(needed)})."
    if cluster.sealed is None:
        remedy = "Nothing is to be done where zkdash only reads; else name who writes by write_auth_scheme."
        return Finding(subject, State.WARNING, sentence, remedy)
    remedy = "Grant WRITE, CREATE and DELETE there to who writes, or correct write_auth_env or its file."
    return Finding(subject, State.WRONG, sentence, remedy)


def _listed(znodes: Sequence[str]) -> str:
    rest = len(znodes) - _SHOWN
    return ", ".join(znodes[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
