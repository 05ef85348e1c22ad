"""The files of `deploy/`: every command in them is one of zkdash's, every variable one that it reads."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from django.core.management import load_command_class
from django.urls import resolve

from zkdash.configuration import environment
from zkdash.management import ending

ROOT: Final = Path(__file__).resolve().parents[2]
DEPLOY: Final = ROOT / "deploy"
UNITS: Final = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE: Final = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
MANIFESTS: Final = yaml.safe_load((DEPLOY / "kubernetes" / "zkdash.yaml").read_text())["items"]
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


def manifests(kind: str) -> dict[str, Any]:
    """Those of a kind, by their names."""
    return {each["metadata"]["name"]: each for each in MANIFESTS if each["kind"] == kind}


@pytest.mark.parametrize("role", ROLES)
def test_a_deployment_of_kubernetes_is_the_same_role_in_a_box(role: str) -> None:
    spec = manifests("Deployment")[f"zkdash-{role}"]["spec"]
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"]["role"] == role
    pod = spec["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["terminationGracePeriodSeconds"] > ending.LIMIT_S
    (container,) = pod["containers"]
    assert container["args"] == COMPOSE["services"][role]["command"]
    understood(container["args"])
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == {
        volume["name"] for volume in pod["volumes"]
    }
    assert ("readinessProbe" in container) == ("livenessProbe" in container) == (role == "serve")


def test_the_manifests_of_kubernetes_set_what_compose_does_and_lead_to_what_serves() -> None:
    assert manifests("Deployment").keys() == {f"zkdash-{role}" for role in ROLES}
    given = {**manifests("ConfigMap")["zkdash"]["data"], **manifests("Secret")["zkdash"]["stringData"]}
    assert given.keys() == COMPOSE["services"]["serve"]["environment"].keys()
    clusters = tomllib.loads(manifests("ConfigMap")["zkdash-clusters"]["data"]["zkdash.toml"])
    assert clusters["clusters"]
    assert f"https://{given['ZKDASH_ALLOWED_HOSTS']}" == given["ZKDASH_ORIGINS"]
    serving = manifests("Deployment")["zkdash-serve"]["spec"]["template"]
    service = manifests("Service")["zkdash"]["spec"]
    assert service["selector"] == serving["metadata"]["labels"]
    (container,) = serving["spec"]["containers"]
    assert {port["targetPort"] for port in service["ports"]} == {
        port["containerPort"] for port in container["ports"]
    }
    (rule,) = manifests("Ingress")["zkdash"]["spec"]["rules"]
    assert rule["host"] == given["ZKDASH_ALLOWED_HOSTS"]
    for probe in ("livenessProbe", "readinessProbe"):
        resolve(container[probe]["httpGet"]["path"])


def test_the_proxy_passes_on_what_zkdash_needs_to_hear() -> None:
    words = (DEPLOY / "nginx.conf").read_text()
    for header in ("Host $http_host", "Upgrade", "X-Forwarded-For $remote_addr", "X-Forwarded-Proto $scheme"):
        assert f"proxy_set_header {header}" in words
