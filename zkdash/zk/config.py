"""How one cluster is reached: parsed once, in settings, and passed down as a frozen value."""

from __future__ import annotations

import msgspec


class ClusterConfig(msgspec.Struct, frozen=True):
    """One `[clusters.<name>]` of the configuration.

    `servers` are (host, port) in the order given, `chroot` is "" or "/a/b" without a trailing slash.
    `credential` is the value of the variable that `auth_env` names; never shown, never logged.
    """

    name: str
    servers: tuple[tuple[str, int], ...]
    chroot: str = ""
    auth_scheme: str | None = None
    credential: str | None = None
    session_timeout_s: float = 18.0

    @property
    def address(self) -> str:
        """The connection string as an operator would write it, without the credential."""
        hosts = ",".join(f"[{h}]:{p}" if ":" in h else f"{h}:{p}" for h, p in self.servers)
        return hosts + self.chroot

    def __repr__(self) -> str:
        return f"ClusterConfig({self.name!r}, {self.address!r})"
