"""What single sign-on needs is not needed where nobody asks for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import inherited

ROOT = Path(__file__).resolve().parents[3]
WITHOUT = """
import sys
sys.modules.update(authlib=None, ldap3=None, requests=None)
import django
django.setup()
from django.test import Client
print(Client(SERVER_NAME="localhost").get("/sign-in/").status_code)
"""


def run(data: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """A process in which the extras can't be imported."""
    ours = {"ZKDASH_DATA": str(data), "DJANGO_SETTINGS_MODULE": "zkdash.settings"}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT],
        cwd=ROOT,
        env=inherited() | ours | environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_zkdash_runs_without_them(tmp_path: Path) -> None:
    found = run(tmp_path)
    assert found.stdout.splitlines() == ["200"], found.stderr


@pytest.mark.parametrize(
    ("table", "keys", "package"),
    [
        ("[sign_in.oidc]", 'issuer = "https://id"\nclient_id = "zkdash"\nclient_secret_env = "S"', "Authlib"),
        ("[sign_in.ldap]", 'url = "ldaps://h"\nuser_base = "dc=org"', "ldap3"),
    ],
    ids=["oidc", "ldap"],
)
def test_what_is_configured_and_missing_is_told_before_anything_starts(
    tmp_path: Path, table: str, keys: str, package: str
) -> None:
    file = tmp_path / "zkdash.toml"
    file.write_text(f"{table}\n{keys}\n")
    found = run(tmp_path, ZKDASH_CONFIG=str(file))
    assert found.returncode == 1
    assert (
        f"{file}: {table} needs the package {package}: pip install {package}, or 'zkdash[sso]'."
        in found.stderr
    )
