"""The files of `deploy/`: every command in them is one of zkdash's, every variable one that it reads."""

from __future__ import annotations

import configparser
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from django.core.management import load_command_class

from zkdash.configuration import environment

ROOT: Final = Path(__file__).resolve().parents[2]
DEPLOY: Final = ROOT / "deploy"
UNITS: Final = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE: Final = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
ROLES: Final = sorted(name for name, service in COMPOSE["services"].items() if "command" in service)


def understood(command: Sequence[str]) -> None:
    """Raises where zkdash has no such command, or not with these options."""
    verb, *options = command
    parser = load_command_class("zkdash", verb).create_parser("zkdash", verb)
    parser.parse_args(options)


def read_by_zkdash(variable: str) -> bool:
    return variable in environment.NAMES


@pytest.mark.parametrize("role", ROLES)
def test_a_service_of_compose_is_a_role_of_zkdash_and_may_write_nothing_else(role: str) -> None:
    service: dict[str, Any] = COMPOSE["services"][role]
    understood(service["command"])
    assert all(map(read_by_zkdash, service["environment"])), service["environment"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    named = {volume.partition(":")[0] for volume in service["volumes"] if not volume.startswith("./")}
    assert named <= COMPOSE["volumes"].keys()
    assert ("healthcheck" in service) == (role != "serve")  # the image's own asks for a page


def test_every_role_is_there_once_and_none_does_what_another_is_there_for() -> None:
    assert ROLES == ["execute", "pipeline", "record", "serve"]
    assert {"--no-execute", "--no-record", "--no-pipeline"} <= {*COMPOSE["services"]["serve"]["command"]}
    proxy = COMPOSE["services"]["proxy"]
    trusted = COMPOSE["services"]["serve"]["environment"]["ZKDASH_PROXIES"]
    assert proxy["networks"]["inside"]["ipv4_address"] == trusted


def test_the_image_is_nobodys_and_begins_with_a_command_of_zkdash() -> None:
    instructions = [
        line.split(" ", 1) for line in (DEPLOY / "Containerfile").read_text().splitlines() if line
    ]
    of_image = instructions[max(at for at, line in enumerate(instructions) if line[0] == "FROM") :]
    words = {name: rest for name, rest in of_image if name.isupper()}
    assert int(words["USER"]) > 0
    assert json.loads(words["ENTRYPOINT"]) == ["/opt/zkdash/bin/zkdash"]
    understood(json.loads(words["CMD"]))
    variables = re.findall(r"(ZKDASH_\w+)=", words["ENV"])
    assert variables
    assert all(map(read_by_zkdash, variables))
    assert words["EXPOSE"] in json.loads(words["CMD"])


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_starts_a_role_of_zkdash_in_a_box(unit: Path) -> None:
    parser = configparser.ConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(unit)
    service = parser["Service"]
    program, *command = shlex.split(service["ExecStart"])
    assert program == "/opt/zkdash/bin/zkdash"
    assert unit.stem == f"zkdash-{command[0]}"
    understood(command)
    assert read_by_zkdash(service["Environment"].partition("=")[0])
    assert (service["User"], service["ProtectSystem"], service["NoNewPrivileges"]) == (
        "zkdash",
        "strict",
        "yes",
    )


def test_the_proxy_passes_on_what_zkdash_needs_to_hear() -> None:
    words = (DEPLOY / "nginx.conf").read_text()
    for header in ("Host $host", "Upgrade", "X-Forwarded-For $remote_addr", "X-Forwarded-Proto $scheme"):
        assert f"proxy_set_header {header}" in words
