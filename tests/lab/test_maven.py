"""The user's Maven settings, as Maven reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab import maven
from tests.lab.maven import Coordinate, Proxy

MIRROR = "<mirror><id>house</id><mirrorOf>{of}</mirrorOf><url>https://jars.example/m2/</url></mirror>"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "MAVEN_HOME": str(tmp_path / "maven"), "WORD": "opened"}


def write(environ: dict[str, str], body: str, *, where: str = "HOME/.m2") -> Path:
    variable, _, folder = where.partition("/")
    path = Path(environ[variable], folder, "settings.xml")
    path.parent.mkdir(parents=True)
    path.write_text(f'<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0">{body}</settings>')
    return path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("org.apache.kafka:kafka_2.13:3.9.1", "org/apache/kafka/kafka_2.13/3.9.1/kafka_2.13-3.9.1.jar"),
        ("io.netty:netty:4.1:linux-x86_64", "io/netty/netty/4.1/netty-4.1-linux-x86_64.jar"),
    ],
)
def test_a_coordinate_is_a_path_in_the_repository(text: str, path: str) -> None:
    assert Coordinate.parse(text).path == path
    assert str(Coordinate.parse(text)) == text


@pytest.mark.parametrize("text", ["", "a:b", "a::c", "a:b:c:d:e"])
def test_what_is_no_coordinate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="group:artifact:version"):
        Coordinate.parse(text)


def test_without_settings_it_is_maven_central(environ: dict[str, str]) -> None:
    assert maven.repository(environ) == maven.Repository(maven.CENTRAL)


@pytest.mark.parametrize("of", ["*", "central", "external:*", "snapshots,central"])
def test_a_mirror_of_central_takes_its_place(environ: dict[str, str], of: str) -> None:
    write(environ, f"<mirrors>{MIRROR.format(of=of)}</mirrors>")
    address = maven.repository(environ).address(Coordinate("g", "a", "1"))
    assert address == "https://jars.example/m2/g/a/1/a-1.jar"


@pytest.mark.parametrize("of", ["snapshots", "*,!central", "external:http:*", ""])
def test_a_mirror_of_something_else_does_not(environ: dict[str, str], of: str) -> None:
    write(environ, f"<mirrors>{MIRROR.format(of=of)}</mirrors>")
    assert maven.repository(environ).url == maven.CENTRAL


def test_the_users_mirror_wins_over_the_installations(environ: dict[str, str]) -> None:
    write(environ, f"<mirrors>{MIRROR.format(of='*')}</mirrors>")
    write(
        environ, f"<mirrors>{MIRROR.format(of='*').replace('m2', 'other')}</mirrors>", where="MAVEN_HOME/conf"
    )
    assert maven.repository(environ).url == "https://jars.example/m2/"


def test_the_mirrors_server_gives_the_credentials(environ: dict[str, str]) -> None:
    server = "<server><id>house</id><username>reader</username><password>${env.WORD}</password></server>"
    write(environ, f"<mirrors>{MIRROR.format(of='*')}</mirrors><servers>{server}</servers>")
    repository = maven.repository(environ)
    assert (repository.username, repository.password) == ("reader", "opened")
    assert "opened" not in repr(repository)
    request = repository.request(Coordinate("g", "a", "1"))
    assert request.unredirected_hdrs["Authorization"] == "Basic cmVhZGVyOm9wZW5lZA=="


def test_an_encrypted_password_is_refused_by_the_files_name(environ: dict[str, str]) -> None:
    server = "<server><id>house</id><username>r</username><password>{COQLCE=}</password></server>"
    path = write(environ, f"<mirrors>{MIRROR.format(of='*')}</mirrors><servers>{server}</servers>")
    with pytest.raises(maven.SettingsError, match=f"{path}.*'house' is encrypted"):
        maven.repository(environ)


def test_settings_that_are_no_xml_are_refused_by_name(environ: dict[str, str]) -> None:
    path = write(environ, "<mirrors>")
    with pytest.raises(maven.SettingsError, match=f"{path} is not XML"):
        maven.repository(environ)


def test_the_first_active_proxy_is_taken(environ: dict[str, str]) -> None:
    off = "<proxy><active>false</active><host>off</host><port>1</port></proxy>"
    on = "<proxy><host>on</host><port>3128</port><nonProxyHosts>*.house|10.*</nonProxyHosts></proxy>"
    write(environ, f"<proxies>{off}{on}</proxies>")
    assert maven.repository(environ).proxy == Proxy("on", 3128, bypass=("*.house", "10.*"))


def test_a_proxy_is_passed_by_for_the_hosts_that_say_so() -> None:
    proxy = Proxy("on", 3128, bypass=("*.house", "10.*"), username="a@b", password="p/w")
    assert [proxy.serves(host) for host in ("jars.house", "10.1.2.3", "jars.example")] == [False, False, True]
    assert proxy.url == "http://a%40b:p%2Fw@on:3128"
