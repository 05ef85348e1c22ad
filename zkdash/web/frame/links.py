"""Addresses of pages for names that anybody may have chosen.

A browser collapses the path segments `.` and `..` even when they are percent-encoded, so a name of that
kind, and any name that begins with the escape itself, is written with a `~` in front.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urlencode

from django.conf import settings

from zkdash.cluster.model.findings import Finding
from zkdash.web.frame import times

LATEST: Final = "latest"  # the newest moment that is recorded
_PREFIX: Final[str] = settings.ZKDASH_PREFIX
_ESCAPE = "~"
_DOTS = (".", "..")
_SESSION = re.compile(r"0x[0-9a-f]{1,16}")


class NameConverter:
    """One path segment that holds a name: undoes `segment` once the server has unquoted it."""

    regex = r"[^/]+"

    def to_python(self, value: str) -> str:
        return value.removeprefix(_ESCAPE)

    def to_url(self, value: str) -> str:
        return _escaped(value)


class ClusterConverter:
    """A cluster's name as the configuration allows it, and upper case, so that the 404 page can speak."""

    regex = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class ZnodeConverter:
    """A znode's path in an address, where the root is "": undoes `znode` once the server has unquoted it."""

    regex = r"(?:[^/]+/)*[^/]*"

    def to_python(self, value: str) -> str:
        return "/" + "/".join(name.removeprefix(_ESCAPE) for name in value.removesuffix("/").split("/"))

    def to_url(self, value: str) -> str:
        return "/".join(map(_escaped, value.removeprefix("/").split("/")))


def segment(name: str) -> str:
    """The name as one path segment of a link."""
    return quote(_escaped(name), safe="", errors="surrogatepass")


def own(path: str) -> str:
    """The address of what is at a path of zkdash, below the prefix that a proxy gives it."""
    return _PREFIX + path


def live(address: str) -> str:
    """The address of the socket that a page of ours at `address` has: its path under /live."""
    return f"{_PREFIX}/live{address.removeprefix(_PREFIX)}"


def cluster(name: str, path: str = "", query: str = "") -> str:
    """The address of a cluster's page: `path` is already quoted, `query` an encoded query string."""
    return f"{_PREFIX}/c/{quote(name, safe='')}/{path}" + (f"?{query}" if query else "")


def was(name: str, at: str, path: str = "", pairs: Iterable[tuple[str, str]] = ()) -> str:
    """A page of a cluster, its overview without `path`, at a moment as `at_zxid` or `at_time` have it."""
    return cluster(name, path, query([*pairs, ("at", at)]))


def differences(name: str, since: str, at: str, pairs: Iterable[tuple[str, str]] = ()) -> str:
    """What differs between two moments, as `at_zxid` or `at_time` have them; `pairs` ask for some of it."""
    return cluster(name, "differences/", query([*pairs, ("from", since), ("at", at)]))


def keep(name: str, until: str, since: str = "") -> str:
    """Where a moment of a cluster is kept, or all since one; as `at_zxid` or `at_time` have them."""
    return cluster(name, "bookmarks/", query([("until", until), *([("since", since)] if since else [])]))


def why(name: str, pairs: Iterable[tuple[str, str]]) -> str:
    """What made a thing of a cluster as it is; `pairs` name it."""
    return cluster(name, "why/", query(pairs))


@lru_cache(maxsize=64)
def why_partitions(name: str, of: str) -> str:
    """The same of a topic's partitions, up to the number."""
    return why(name, [("topic", of), ("partition", "")])


def at_zxid(zxid: int) -> str:
    """The moment after a transaction, as `?at=` takes it."""
    return f"zxid:0x{zxid:x}"


def at_time(epoch_ms: int) -> str:
    """The moment of a time that a calendar holds, as `?at=` takes it."""
    return times.utc_text(epoch_ms) or ""


def query(pairs: Iterable[tuple[str, str]]) -> str:
    """A query string, of names that anybody may have chosen."""
    return urlencode(list(pairs), errors="surrogatepass")


def topic(cluster_name: str, name: str) -> str:
    return cluster(cluster_name, f"topics/{segment(name)}/")


def broker(cluster_name: str, number: int, query: str = "") -> str:
    return cluster(cluster_name, f"brokers/{number}/", query)


def group(cluster_name: str, name: str) -> str:
    return cluster(cluster_name, f"groups/{segment(name)}/")


def how_it_works(cluster_name: str, group_name: str) -> str:
    """The life of a group, step by step, with its znodes."""
    return cluster(cluster_name, "how-it-works/", query((("group", group_name),)))


def znode(cluster_name: str, path: str) -> str:
    """The browser at a znode; a path is under the cluster's chroot, which itself is "/"."""
    return cluster(cluster_name, "znodes/" + "/".join(map(segment, path.split("/")[1:])))


def znode_data(cluster_name: str, path: str) -> str:
    """The whole data of a znode, as a file."""
    return cluster(cluster_name, "znode-data/" + "/".join(map(segment, path.split("/")[1:])))


def table(cluster_name: str, name: str) -> str:
    """The rows of a table that the pipeline derives."""
    return cluster(cluster_name, f"tables/{segment(name)}/")


def session(cluster_name: str, number: int) -> str:
    """What a session with ZooKeeper owns; its id is a signed 64-bit number."""
    return cluster(cluster_name, f"sessions/{session_text(number)}/")


def session_text(number: int) -> str:
    """A signed 64-bit session id as ZooKeeper's logs write it: `0x…`."""
    return f"{number & 0xFFFF_FFFF_FFFF_FFFF:#x}"


def session_number(text: str) -> int | None:
    """A session's id, signed as ZooKeeper has it; None for what is none."""
    if not _SESSION.fullmatch(text) or not int(text, 16):
        return None
    return int.from_bytes(int(text, 16).to_bytes(8, "big"), "big", signed=True)


def action(cluster_name: str, number: int, path: str = "") -> str:
    """The page of an action; `path` is what follows, a verb with its slash."""
    return cluster(cluster_name, f"actions/{number}/{path}")


def audit(cluster_name: str, query: str = "") -> str:
    return cluster(cluster_name, "audit/", query)


def form(cluster_name: str, kind: str, *chosen: tuple[str, str | int]) -> str:
    """The form that proposes an action of a kind, with what it is to act on."""
    return cluster(cluster_name, f"actions/new/{kind}/", urlencode(chosen, errors="surrogatepass"))


def check(cluster_name: str, name: str, path: str = "") -> str:
    """The page of a check; `path` is what follows, a verb with its slash."""
    return cluster(cluster_name, f"checks/{segment(name)}/{path}")


def finding(cluster_name: str, finding: Finding) -> str:
    """The table that lists what a check counted, which may be on the check's own page."""
    if not finding.page:
        return check(cluster_name, finding.check)
    return cluster(cluster_name, f"{finding.page}/", finding.query)


def configs(cluster_name: str, text: str) -> str:
    """The Configuration page, filtered by a text."""
    return cluster(cluster_name, "configs/", urlencode({"q": text}, errors="surrogatepass"))


def problems(cluster_name: str, path: str) -> str:
    """The Problems page, filtered by a path; a longer one than a filter takes is cut there."""
    return cluster(cluster_name, "problems/", urlencode({"q": path}, errors="surrogatepass"))


def quoted(path: str) -> str:
    """A path as the server unquoted it, quoted again: no segment of ours can hold a slash."""
    return quote(path, safe="/", errors="surrogatepass")


def element_id(prefix: str, name: str) -> str:
    """An element id made from a name: stable, unique, and safe in any selector."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{prefix}-{digest}"


def _escaped(name: str) -> str:
    return _ESCAPE + name if name in _DOTS or name.startswith(_ESCAPE) else name
