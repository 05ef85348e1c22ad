"""Where jars come from: Maven Central, or what the user's Maven settings put in its place.

Reads what Maven itself reads: the user's `~/.m2/settings.xml` first, then the installation's
`conf/settings.xml` under `MAVEN_HOME`. Of these: mirrors of central, the credentials of that mirror's
server, and the active proxy. Without a proxy there, urllib's own rules hold (`https_proxy`, `no_proxy`).
"""

from __future__ import annotations

import base64
import os
import re
import ssl
import urllib.request
import xml.etree.ElementTree as ET  # the user's own settings, no hostile input
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

CENTRAL = "https://repo1.maven.org/maven2"


class SettingsError(Exception):
    """A Maven settings file says something that we can't follow; the sentence names the file."""


@dataclass(frozen=True, order=True)
class Coordinate:
    """`group:artifact:version`, with `:classifier` where a jar has one."""

    group: str
    artifact: str
    version: str
    classifier: str = ""

    @classmethod
    def parse(cls, text: str) -> Coordinate:
        """Read `group:artifact:version[:classifier]`; ValueError where it is not that."""
        parts = text.split(":")
        if len(parts) not in (3, 4) or not all(parts):
            raise ValueError(f"{text!r} is not group:artifact:version[:classifier]")
        return cls(*parts)

    def __str__(self) -> str:
        parts = (self.group, self.artifact, self.version, self.classifier)
        return ":".join(part for part in parts if part)

    @property
    def file_name(self) -> str:
        """The jar's name in a repository."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{suffix}.jar"

    @property
    def path(self) -> str:
        """The jar's path in a repository of Maven's layout."""
        return "/".join([*self.group.split("."), self.artifact, self.version, self.file_name])


@dataclass(frozen=True)
class Proxy:
    """A proxy of settings.xml; `bypass` are Maven's nonProxyHosts (`*` at either end)."""

    host: str
    port: int
    bypass: tuple[str, ...] = ()
    username: str = ""
    password: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        """The proxy as urllib takes it."""
        user = f"{quote(self.username, safe='')}:{quote(self.password, safe='')}@" if self.username else ""
        return f"http://{user}{self.host}:{self.port}"

    def serves(self, host: str) -> bool:
        """Say whether requests to `host` go through this proxy."""
        patterns = (re.escape(pattern).replace(r"\*", ".*") for pattern in self.bypass)
        return not any(re.fullmatch(pattern, host, re.IGNORECASE) for pattern in patterns)


@dataclass(frozen=True)
class Repository:
    """A repository of Maven's layout, and how it is reached."""

    url: str = CENTRAL
    proxy: Proxy | None = None
    username: str = ""
    password: str = field(default="", repr=False)

    def address(self, coordinate: Coordinate) -> str:
        """The URL of a jar."""
        return f"{self.url.rstrip('/')}/{quote(coordinate.path)}"

    def opener(self) -> urllib.request.OpenerDirector:
        """An opener with the system's certificate authorities (`SSL_CERT_FILE`) and the proxy."""
        handlers: list[urllib.request.BaseHandler] = [
            urllib.request.HTTPSHandler(context=ssl.create_default_context())
        ]
        if self.proxy is not None:
            through = self.proxy.serves(urlsplit(self.url).hostname or "")
            handlers.append(
                urllib.request.ProxyHandler(
                    dict.fromkeys(("http", "https"), self.proxy.url) if through else {}
                )
            )
        return urllib.request.build_opener(*handlers)

    def request(self, coordinate: Coordinate) -> urllib.request.Request:
        """A request for a jar; credentials are not carried over a redirect."""
        request = urllib.request.Request(self.address(coordinate))  # noqa: S310 - the URL is the user's setting
        if self.username:
            token = base64.b64encode(f"{self.username}:{self.password}".encode()).decode()
            request.add_unredirected_header("Authorization", f"Basic {token}")
        return request


def settings_files(environ: Mapping[str, str] = os.environ) -> Iterator[Path]:
    """Maven's settings files that exist, the user's first."""
    installed = [environ[name] for name in ("MAVEN_HOME", "M2_HOME") if environ.get(name)]
    candidates = [Path(environ.get("HOME") or Path.home(), ".m2", "settings.xml")]
    candidates += [Path(home, "conf", "settings.xml") for home in installed]
    return (path for path in candidates if path.is_file())


def repository(environ: Mapping[str, str] = os.environ) -> Repository:
    """The repository that stands for Maven Central on this machine.

    SettingsError where a settings file is no XML, or holds a password in Maven's encrypted form.
    """
    found: dict[str, str] = {}
    proxy: Proxy | None = None
    for path in settings_files(environ):
        settings = _read(path)
        mirror = None if found else _mirror(settings)
        if mirror is not None:
            found = {"url": _text(mirror, "url", environ)} | _credentials(settings, mirror, path, environ)
        proxy = proxy or _proxy(settings, path, environ)
    return Repository(**found, proxy=proxy)


def _read(path: Path) -> ET.Element:
    try:
        root = ET.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314 - the user's own file
    except (ET.ParseError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not XML ({error}): correct it, or move it away.") from error
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def _text(element: ET.Element, name: str, environ: Mapping[str, str], default: str = "") -> str:
    text = (element.findtext(name) or default).strip()
    return re.sub(r"\$\{env\.([^}]+)\}", lambda match: environ.get(match[1], ""), text)


def _mirror(settings: ET.Element) -> ET.Element | None:
    return next((m for m in settings.iterfind("mirrors/mirror") if _covers_central(m)), None)


def _covers_central(mirror: ET.Element) -> bool:
    patterns = [part.strip() for part in (mirror.findtext("mirrorOf") or "").split(",")]
    return "!central" not in patterns and bool({"*", "central", "external:*"} & set(patterns))


def _credentials(
    settings: ET.Element, mirror: ET.Element, path: Path, environ: Mapping[str, str]
) -> dict[str, str]:
    name = mirror.findtext("id")
    for server in settings.iterfind("servers/server"):
        if server.findtext("id") == name and server.findtext("username"):
            return {
                "username": _text(server, "username", environ),
                "password": _password(server, path, environ),
            }
    return {}


def _password(element: ET.Element, path: Path, environ: Mapping[str, str]) -> str:
    password = _text(element, "password", environ)
    if re.fullmatch(r".*\{.+\}.*", password):
        raise SettingsError(
            f"{path}: the password of {element.findtext('id')!r} is encrypted by Maven, which only Maven "
            "can read: give it as ${env.NAME} instead."
        )
    return password


def _proxy(settings: ET.Element, path: Path, environ: Mapping[str, str]) -> Proxy | None:
    for proxy in settings.iterfind("proxies/proxy"):
        if _text(proxy, "active", environ, "true").lower() == "true":
            bypass = _text(proxy, "nonProxyHosts", environ)
            return Proxy(
                host=_text(proxy, "host", environ),
                port=int(_text(proxy, "port", environ, "8080")),
                bypass=tuple(part for part in re.split(r"[|,]", bypass) if part),
                username=_text(proxy, "username", environ),
                password=_password(proxy, path, environ),
            )
    return None
