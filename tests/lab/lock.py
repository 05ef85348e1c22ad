"""Lock files: every jar of a release with its sha256 and size, so that nothing else is ever run.

`python -m tests.lab.lock 3.9.1` makes one anew: Apache Ivy, which is among PySpark's jars, resolves the
closure from the same repository that the tests fetch from.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from xml.sax.saxutils import quoteattr

from tests.lab import maven
from tests.lab.maven import Coordinate
from tests.lab.releases import NOT_ON_CENTRAL, RELEASES, Release
from zkdash import java

RESOLVE_LIMIT_S = 600


@dataclass(frozen=True, order=True)
class Jar:
    """One line of a lock file: what, its sha256 in hexadecimal, its size in bytes."""

    coordinate: Coordinate
    sha256: str
    size: int


def read(path: Path) -> tuple[Jar, ...]:
    """The jars of a lock file, in its order; ValueError naming the line that is none."""
    jars = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        try:
            coordinate, sha256, size = line.split()
            jars.append(Jar(Coordinate.parse(coordinate), sha256, int(size)))
        except ValueError as error:
            raise ValueError(f"{path}:{number}: not `coordinate sha256 size`: {line!r}") from error
    return tuple(jars)


def write(path: Path, jars: Iterable[Jar], *, command: str) -> None:
    """Write a lock file, sorted by coordinate, saying which command makes it."""
    lines = [f"# made by: {command}", "# coordinate sha256 size"]
    lines += [f"{jar.coordinate} {jar.sha256} {jar.size}" for jar in sorted(jars)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def resolve(release: Release, repository: maven.Repository) -> tuple[Jar, ...]:
    """Resolve the closure of a release with Ivy; RuntimeError with Ivy's last words where it fails."""
    with tempfile.TemporaryDirectory(prefix="zkdash-lock-") as name:
        folder = Path(name)
        (folder / "ivy.xml").write_text(_ivy(release), encoding="utf-8")
        (folder / "settings.xml").write_text(_ivy_settings(repository), encoding="utf-8")
        command = [str(java.find().path), *_proxy_options(repository), "-jar", str(_ivy_jar())]
        command += ["-settings", str(folder / "settings.xml"), "-ivy", str(folder / "ivy.xml")]
        command += ["-confs", "default", "-cache", str(folder / "cache"), "-types", "jar", "bundle"]
        command += ["-retrieve", f"{folder}/lib/[organisation]/[revision](/[classifier])/[artifact].[ext]"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=RESOLVE_LIMIT_S, check=False)
        if done.returncode:
            raise RuntimeError(f"Ivy could not resolve the closure:\n{done.stdout[-4000:]}{done.stderr}")
        return tuple(_jar(folder / "lib", path) for path in sorted(folder.glob("lib/**/*.jar")))


def _jar(root: Path, path: Path) -> Jar:
    group, version, *classifier = path.relative_to(root).parts[:-1]
    coordinate = Coordinate(group, path.stem, version, *classifier)
    data = path.read_bytes()
    return Jar(coordinate, hashlib.sha256(data).hexdigest(), len(data))


def _ivy(release: Release) -> str:
    dependencies = [
        f"<dependency org={quoteattr(c.group)} name={quoteattr(c.artifact)} rev={quoteattr(c.version)}"
        f' conf="default->default" transitive="{str(closure).lower()}"/>'
        for coordinates, closure in ((release.roots, True), (release.alone, False))
        for c in coordinates
    ]
    exclusions = [
        "<exclude org={} module={}/>".format(*map(quoteattr, name.split(":"))) for name in NOT_ON_CENTRAL
    ]
    body = "".join(dependencies + exclusions)
    return (
        '<ivy-module version="2.0"><info organisation="zkdash" module="lab"/><configurations>'
        f'<conf name="default"/></configurations><dependencies>{body}</dependencies></ivy-module>'
    )


def _ivy_settings(repository: maven.Repository) -> str:
    host = urlsplit(repository.url).hostname or ""
    credentials = (
        f"<credentials host={quoteattr(host)} realm='' username={quoteattr(repository.username)} "
        f"passwd={quoteattr(repository.password)}/>"
        if repository.username
        else ""
    )
    return (
        f'<ivysettings><settings defaultResolver="central"/>{credentials}<resolvers>'
        f'<ibiblio name="central" m2compatible="true" root={quoteattr(repository.url)}/>'
        "</resolvers></ivysettings>"
    )


def _proxy_options(repository: maven.Repository) -> list[str]:
    proxy = repository.proxy
    if proxy is None:
        return ["-Djava.net.useSystemProxies=true"]
    options = [f"-D{kind}.proxyHost={proxy.host}" for kind in ("http", "https")]
    options += [f"-D{kind}.proxyPort={proxy.port}" for kind in ("http", "https")]
    return [*options, f"-Dhttp.nonProxyHosts={'|'.join(proxy.bypass)}"]


def _ivy_jar() -> Path:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise RuntimeError("PySpark is not installed: run `pip install -r requirements.txt`.")
    return next(Path(spec.origin).parent.glob("jars/ivy-*.jar"))


def main(versions: list[str]) -> int:
    """Make the lock files of the named releases, or of all."""
    unknown = set(versions) - set(RELEASES)
    if unknown:
        print(f"unknown release {', '.join(sorted(unknown))}; known: {', '.join(RELEASES)}")  # noqa: T201
        return 2
    for version in versions or list(RELEASES):
        release = RELEASES[version]
        jars = resolve(release, maven.repository())
        write(release.lock, jars, command=f"python -m tests.lab.lock {version}")
        print(f"{release.lock.name}: {len(jars)} jars, {sum(j.size for j in jars) / 1e6:.1f} MB")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
