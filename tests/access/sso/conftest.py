"""A real LDAP server and a real OpenID Connect provider, each a process on 127.0.0.1."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.access.sso.servers import LdapServer, Provider, register, started

__all__ = ["started"]

PEOPLE = """\
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
userPassword: reads everything

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


def _certificate(path: Path) -> Path:
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
    certificate = _certificate(tmp_path / "server.pem")
    plain, safe = started("ldap_server.py", ldif, certificate).split()
    return LdapServer(f"ldap://127.0.0.1:{plain}", f"ldaps://127.0.0.1:{safe}", certificate)


@pytest.fixture(scope="module")
def provider(started: Callable[..., str]) -> Provider:
    return register(f"http://127.0.0.1:{started('oidc_provider.py').strip()}", "http://testserver")
