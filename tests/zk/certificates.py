"""An authority of the test's own, and certificates by it, good and bad: PEM files in a directory."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)


class Pem(NamedTuple):
    """A certificate, its key, and both in one file, which is a keystore to ZooKeeper."""

    cert: Path
    key: Path
    both: Path


class Authority:
    """Signs certificates; `ca` is its own."""

    def __init__(self, directory: Path, name: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory, self._name = directory, x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.datetime.now(datetime.UTC)
        built = (
            self._builder(self._name, self._key.public_key(), now - _DAY, now + _DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.ca = directory / f"{name}.pem"
        self.ca.write_bytes(built.public_bytes(serialization.Encoding.PEM))

    def issue(
        self, name: str, *, host: str = "127.0.0.1", is_expired: bool = False, password: str = ""
    ) -> Pem:
        """A certificate for CN=`name` at `host`, a name or an address; a `password` seals the key."""
        now = datetime.datetime.now(datetime.UTC)
        until = now - _DAY / 2 if is_expired else now + _DAY
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        built = (
            self._builder(subject, key.public_key(), now - _DAY, until)
            .add_extension(x509.SubjectAlternativeName([_general_name(host)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        cert = built.public_bytes(serialization.Encoding.PEM)
        sealed = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(password.encode())
            if password
            else serialization.NoEncryption(),
        )
        files = Pem(*(self._directory / f"{name}.{kind}" for kind in ("cert", "key", "both")))
        for file, content in zip(files, (cert, sealed, cert + sealed), strict=True):
            file.write_bytes(content)
            file.chmod(0o600)
        return files

    def _builder(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePublicKey,
        since: datetime.datetime,
        until: datetime.datetime,
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(since)
            .not_valid_after(until)
        )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
