"""The variables of the environment that zkdash reads: each declared here, and nowhere else told.

`docs/configuration.md` is made of this and of the tables' Structs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final, NamedTuple

PREFIX: Final = "ZKDASH_"
# Which tests set, to end a process at a point of its work.
_OF_TESTS: Final = frozenset({"ZKDASH_FAILPOINT"})


class Variable(NamedTuple):
    """`takes` is what may be written, `default` what holds where it is not set, "" for nothing."""

    name: str
    takes: str
    default: str
    meaning: str


class Subject(NamedTuple):
    """Variables that belong together."""

    heading: str
    variables: tuple[Variable, ...]


_YES: Final = "`1`"

SUBJECTS: Final = (
    Subject(
        "What is watched, and where files lie",
        (
            Variable(
                "ZKDASH_ZOOKEEPER",
                "`host:2181,host2:2181/chroot`",
                "",
                "One cluster, called `default`.",
            ),
            Variable(
                "ZKDASH_CONFIG",
                "a file",
                "",
                "A TOML file of clusters and all other tables below; beside `ZKDASH_ZOOKEEPER` or instead.",
            ),
            Variable(
                "ZKDASH_PROCESS",
                "a name",
                "",
                "Of the clusters of that file only those are followed here whose `process` it is, or that "
                "have none: [Many clusters](operating.md#many-clusters).",
            ),
            Variable(
                "ZKDASH_DATA",
                "a directory",
                "`var/` beside the code; of an installed wheel `zkdash-data` where it is started",
                "Where zkdash keeps its own files.",
            ),
            Variable(
                "ZKDASH_DATABASE",
                "`postgresql://user:password@host:5432/zkdash`",
                "SQLite in `ZKDASH_DATA`",
                "People, rights, actions, their audit, findings. The processes of a team share one.",
            ),
            Variable(
                "ZKDASH_SECRET_KEY",
                "a text",
                "made in `ZKDASH_DATA`, readable by its owner only",
                "Django's secret key; the same for all processes of a team.",
            ),
        ),
    ),
    Subject(
        "How it is reached",
        (
            Variable(
                "ZKDASH_ALLOWED_HOSTS", "names, comma separated", "", "Further host names that it answers to."
            ),
            Variable(
                "ZKDASH_ORIGINS",
                "`https://kafka.example.org`, comma separated",
                "",
                "Further origins whose pages may send forms and open a WebSocket. To the first of them, "
                "below the prefix, mails and webhooks link.",
            ),
            Variable(
                "ZKDASH_HTTPS", _YES, "", "Browsers reach it by https: cookies are then sent by https only."
            ),
            Variable(
                "ZKDASH_PROXIES",
                "addresses, comma separated",
                "",
                "The proxies in front: of these alone `X-Forwarded-For` is believed.",
            ),
            Variable(
                "ZKDASH_PREFIX",
                "a path such as `/zkdash`",
                "",
                "The path below which a proxy shows zkdash: all addresses, sockets, static files and cookies "
                "of its pages are below it.",
            ),
            Variable(
                "ZKDASH_ANONYMOUS_READ",
                _YES,
                "",
                "Whoever reaches it may read every cluster without signing in; acting always needs sign-in.",
            ),
        ),
    ),
    Subject(
        "What was",
        (
            Variable(
                "ZKDASH_HISTORY",
                "a directory, `s3://…`, `gs://…`, `abfss://…`, `hdfs://…`",
                "`history/` in `ZKDASH_DATA`",
                "Where the tables of what was lie: [pipeline.md](pipeline.md#where-tables-lie).",
            ),
            Variable("ZKDASH_RECORD", "`0`", "", "`serve` and `demo` record nothing of what changes."),
            Variable(
                "ZKDASH_SPARK",
                "`local[*]`, `spark://…`, `yarn`, `k8s://…`, `sc://host:port`",
                "`local[*]`",
                "Spark's master, or Spark Connect.",
            ),
            Variable("ZKDASH_HISTORY_DAYS", "days", "30", "How many days `pipeline run retain` keeps."),
            Variable(
                "ZKDASH_PIPELINE_EVERY",
                "seconds",
                "30",
                "After how long `pipeline work` looks again whether anything is new; 0 never.",
            ),
        ),
    ),
    Subject(
        "Who is told",
        (
            Variable(
                "ZKDASH_WEBHOOK_SECRET",
                "a text",
                "",
                "What webhooks are signed with, needed where a cluster has any: [api.md](api.md#webhooks).",
            ),
            Variable("ZKDASH_WEBHOOK_SECRET_FILE", "a file", "", "The file that holds it instead."),
            Variable(
                "ZKDASH_EMAIL_HOST",
                "a host",
                "",
                "The SMTP server that takes mail, needed where a cluster has `mail`.",
            ),
            Variable("ZKDASH_EMAIL_PORT", "a port", "25; 587 with `starttls`, 465 with `tls`", "Its port."),
            Variable("ZKDASH_EMAIL_TLS", "`starttls` or `tls`", "", "How the connection is secured."),
            Variable(
                "ZKDASH_EMAIL_USER", "a name", "", "Who signs in there; only with TLS, or on this machine."
            ),
            Variable("ZKDASH_EMAIL_PASSWORD", "a text", "", "By what."),
            Variable("ZKDASH_EMAIL_PASSWORD_FILE", "a file", "", "The file that holds it instead."),
            Variable("ZKDASH_EMAIL_FROM", "an address", "`zkdash@localhost`", "Whom mail is from."),
        ),
    ),
    Subject(
        "Metrics and the log",
        (
            Variable(
                "ZKDASH_METRICS_ANONYMOUS",
                _YES,
                "",
                "`/metrics`, of every cluster, is open to whoever reaches it: [api.md](api.md#metrics).",
            ),
            Variable(
                "ZKDASH_METRICS_NAMES",
                _YES,
                "",
                "`/metrics` has numbers of each topic and group, by name; there may be very many.",
            ),
            Variable(
                "ZKDASH_LOG", "`json`", "lines of text", "Each line of the log (stderr) is a JSON object."
            ),
            Variable("ZKDASH_DEBUG", _YES, "", "Django's own error pages are shown; for development only."),
        ),
    ),
)
NAMES: Final = frozenset(variable.name for subject in SUBJECTS for variable in subject.variables)


def strangers(names: Iterable[str]) -> list[tuple[str, str]]:
    """Names that look like ours and are none, each with the one that may have been meant, "" for none."""
    unknown = sorted(name for name in names if name.startswith(PREFIX) and name not in NAMES | _OF_TESTS)
    return [(name, _meant(name.removeprefix(PREFIX))) for name in unknown]


def _meant(rest: str) -> str:
    rests = [name.removeprefix(PREFIX) for name in NAMES]
    return next((PREFIX + near for near in difflib.get_close_matches(rest, rests, 1)), "")
