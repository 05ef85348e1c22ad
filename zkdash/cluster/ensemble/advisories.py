"""Known holes of ZooKeeper by version, as the project's security page lists them (zookeeper.apache.org)."""

from __future__ import annotations

import re
from typing import Final

import msgspec

Version = tuple[int, int, int]


class Advisory(msgspec.Struct, frozen=True):
    """A hole in versions from `since` on, with the first version of each line in which it is closed."""

    cve: str
    what: str
    since: Version
    fixed: tuple[Version, ...]

    def concerns(self, version: Version) -> bool:
        """Whether a version has it: a line without a fix of its own has it up to the newest fix."""
        own = next((fix for fix in self.fixed if fix[:2] == version[:2]), max(self.fixed))
        return self.since <= version < own

    @property
    def remedy(self) -> str:
        """The versions to go to."""
        return " or ".join(".".join(map(str, fix)) for fix in self.fixed)


ADVISORIES: Final = (
    Advisory(
        "CVE-2024-23944",
        "persistent watches tell the paths of znodes that a client may not read",
        since=(3, 6, 0),
        fixed=((3, 8, 4), (3, 9, 2)),
    ),
    Advisory(
        "CVE-2023-44981",
        "a server can join the quorum without being one, where quorum.auth.enableSasl is on",
        since=(0, 0, 0),
        fixed=((3, 7, 2), (3, 8, 3), (3, 9, 1)),
    ),
    Advisory(
        "CVE-2019-0201",
        "getACL tells the digests of users to clients without any right",
        since=(0, 0, 0),
        fixed=((3, 4, 14), (3, 5, 5)),
    ),
    Advisory(
        "CVE-2018-8012",
        "any process may join the quorum, for servers do not authenticate each other",
        since=(0, 0, 0),
        fixed=((3, 4, 10), (3, 5, 4)),
    ),
)


def of(version: str) -> tuple[Advisory, ...]:
    """The known holes of a version as a server tells it ("3.4.13"); none where it tells none that is read."""
    match = re.match(r"(\d{1,4})\.(\d{1,6})(?:\.(\d{1,6}))?", version)
    if match is None:
        return ()
    major, minor, patch = (int(part or 0) for part in match.groups())
    return tuple(advisory for advisory in ADVISORIES if advisory.concerns((major, minor, patch)))
