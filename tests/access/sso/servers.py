"""Real servers that vouch for people, each a process of its own on 127.0.0.1."""

from __future__ import annotations

import datetime
import ipaddress
import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HERE = Path(__file__).resolve().parent


READER = "reads-everything-7c1e"
PEOPLE = f"""\
dn: dc=example,dc=org
objectClass: domain
dc: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: ou=groups,dc=example,dc=org
objectClass: organizationalUnit
ou: groups

dn: cn=reader,dc=example,dc=org
objectClass: person
cn: reader
userPassword: {READER}

dn: uid=vera,ou=people,dc=example,dc=org
objectClass: person
uid: vera
cn: Vera
entryUUID: 11111111-aaaa-4000-8000-000000000001
userPassword: correct horse

dn: uid=otto,ou=people,dc=example,dc=org
objectClass: person
uid: otto
cn: Otto
entryUUID: 11111111-aaaa-4000-8000-000000000002
userPassword: battery staple

dn: uid=x*(y)\\\\z,ou=people,dc=example,dc=org
objectClass: person
uid: x*(y)\\z
cn: odd
entryUUID: 11111111-aaaa-4000-8000-000000000003
userPassword: odd but true

dn: cn=kafka-ops,ou=groups,dc=example,dc=org
objectClass: groupOfNames
cn: kafka-ops
member: uid=vera,ou=people,dc=example,dc=org

dn: cn=kafka-all,ou=groups,dc=example,dc=org
objectClass: groupOfNames
cn: kafka-all
member: uid=vera,ou=people,dc=example,dc=org
member: uid=otto,ou=people,dc=example,dc=org

"""


class LdapServer(NamedTuple):
    """Addresses in the clear (with STARTTLS) and over TLS, and the certificate to trust for both."""

    plain: str
    safe: str
    certificate: Path


class Provider(NamedTuple):
    """An OpenID Connect provider, and what it calls the client that is registered there."""

    issuer: str
    client_id: str
    client_secret: str

    def tell(self, subject: str, **claims: object) -> None:
        """What it says about somebody from now on."""
        ask(f"{self.issuer}/users/{subject}", "PUT", claims)


def ask(address: str, method: str, body: object) -> bytes:
    """Send JSON. Raises urllib.error.HTTPError."""
    request = urllib.request.Request(  # noqa: S310 - ours
        address, json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - ours
        return bytes(answer.read())


def register(issuer: str, site: str) -> Provider:
    """Make the site at an address a client of the provider."""
    told = json.loads(
        ask(f"{issuer}/oauth2/clients", "POST", {"redirect_uris": [f"{site}/sign-in/oidc/back/"]})
    )
    return Provider(issuer, told["client_id"], told["client_secret"])


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Start one of the servers beside this file; the first line that it prints."""
    directory = tmp_path_factory.mktemp("servers")
    processes: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: Any) -> str:
        errors = directory / f"{script}.err"
        with errors.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, "-W", "ignore", HERE / script, *map(str, arguments)],
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
            )
        processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, errors.read_text()
        return line

    yield start
    for process in processes:
        process.terminate()
        process.communicate(timeout=60)


def certificate(path: Path) -> Path:
    """A certificate for 127.0.0.1 that vouches for itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture(scope="module")
def ldap_server(started: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> LdapServer:
    tmp_path = tmp_path_factory.mktemp("ldap")
    ldif = tmp_path / "people.ldif"
    ldif.write_text(PEOPLE)
    pem = certificate(tmp_path / "server.pem")
    plain, safe = started("ldap_server.py", ldif, pem).split()
    return LdapServer(f"ldap://127.0.0.1:{plain}", f"ldaps://127.0.0.1:{safe}", pem)
