"""The document against the OpenAPI specification, and the answers against the document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from pytest_django.fixtures import Settings

from tests import full, recorded
from tests.actions import small
from tests.web import states
from zkdash.cluster import checks
from zkdash.cluster.model.findings import Finding
from zkdash.cluster.model.severity import Severity
from zkdash.live.past.reels import Reels
from zkdash.web import pages, urls
from zkdash.web.api import openapi
from zkdash.web.frame import links
from zkdash.web.frame.shapes import Columns
from zkdash.web.history import table
from zkdash.web.overview import clusters
from zkdash.web.past import handlers
from zkdash.web.past.replaying import ReplayingHandler
from zkdash.zk.config import ClusterConfig

pytestmark = pytest.mark.django_db
DOCUMENT = openapi.build()
# The feed does not end, and 503 is what /readyz is for: their own tests ask them.
PATHS = sorted(DOCUMENT["paths"].keys() - {"/c/{cluster}/feed/", "/readyz"})
LAYOUT_07: states.Tree = {
    "/brokers/ids/1": states.znode("host-1-1:host-1:9092", owner=0x100),
    "/brokers/topics/orders": states.znode(),
    "/brokers/topics/orders/1": states.znode("3", owner=0x100),
    **states.group("billing", {"billing_h-1-00000000": ["orders"]}, offsets={"orders": {0: 5}}),
}


@pytest.fixture
def number(settings: Settings) -> int:
    """A cluster with everything that an address may name; its action's number."""
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),), ask_brokers=False),)
    finding = Finding("D1", Severity.CRITICAL, "1 partition has no leader", 1, "topics", "", 0.0, "")
    members = {"billing_h-1-00000000": ["orders"]}
    tree = {
        **states.sick(),
        **states.group("billing", members, owners={"orders": [0]}, offsets={"orders": {0: 5, 1: "x"}}),
        "/brokers/ids/9": states.znode("{"),
    }
    states.publish(tree, findings=(finding,))
    return small.proposed("demo").pk


def existing(path: str, number: int) -> dict[str, Any]:
    """Values for the parameters of a path, of what there is."""
    values = {"cluster": "demo", "broker": "1", "check": "D1", "number": number}
    values |= {"path": "brokers/ids/1", "session": "0x100", "table": "rebalances"}
    values["name"] = "billing" if "/groups/" in path else "orders"
    return {name: values[name] for name in re.findall(r"\{(\w+)\}", path) or values}


def test_the_document_is_valid_and_everybody_may_have_it(client: Client, settings: Settings) -> None:
    settings.ZKDASH_ANONYMOUS_READ = False
    answer = client.get("/api/openapi.json")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    document = json.loads(answer.content)
    assert document == DOCUMENT
    validate(document)


def test_every_page_is_in_it_and_nothing_that_is_no_page() -> None:
    patterns = {str(one.pattern) for one in urls.urlpatterns}
    written = {re.sub(r"<\w+:(\w+)>", r"{\1}", pattern) for pattern in patterns}
    assert {path.removeprefix("/") for path in DOCUMENT["paths"]} <= written
    names = [operation["get"]["operationId"] for operation in DOCUMENT["paths"].values()]
    assert len(set(names)) == len(names)
    assert {page.name for page in pages.PAGES} | {clusters.NAME} <= set(names)


@pytest.fixture(scope="module")
def schema(django_db_setup: None, django_db_blocker: Any) -> schemathesis.BaseSchema:
    with django_db_blocker.unblock():
        return schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application())


@pytest.fixture
def _past(tmp_path: Path) -> Iterator[None]:
    """The past is told here, where nothing is recorded."""
    handlers.configure(ReplayingHandler(Reels(tmp_path.joinpath, lambda _: checks.Thresholds(), 64)))
    yield
    handlers.configure(None)


@pytest.mark.usefixtures("_past")
@pytest.mark.parametrize("path", PATHS)
def test_what_comes_is_what_is_documented(schema: schemathesis.BaseSchema, path: str, number: int) -> None:
    operation = schema[path]["GET"]
    there = operation.as_strategy(path_parameters=existing(path, number))
    for strategy, most in ((there, full.pick(3, 6)), (operation.as_strategy(), full.pick(2, 3))):

        @hypothesis_settings(max_examples=most, suppress_health_check=list(HealthCheck), database=None)
        @given(case=strategy)
        def ask(case: schemathesis.Case[Any]) -> None:
            case.call_and_validate()

        ask()


@pytest.mark.parametrize("layout", ["0.8", "0.7"])
@pytest.mark.parametrize("name", sorted(openapi.SHAPES))
def test_every_field_of_a_page_is_in_its_schema(client: Client, number: int, layout: str, name: str) -> None:
    if layout == "0.7":
        states.publish(LAYOUT_07)
    [path] = [at for at, one in DOCUMENT["paths"].items() if one["get"]["operationId"] == name]
    answer = client.get(path.format(**existing(path, number)), {"format": "json"})
    assert answer.status_code == 200
    found = json.loads(answer.content)
    _validator(path).validate(found)
    for row in found["rows"]:
        assert (
            any(_names(columns) <= row.keys() for columns in openapi.SHAPES[name].rows) or name == "brokers"
        )


@pytest.mark.parametrize(
    "tree", [one for one in recorded.TREES if one.endswith(("-consumers", "-config", "hostile"))]
)
def test_what_real_brokers_wrote_is_documented_too(client: Client, number: int, tree: str) -> None:
    state = states.publish(recorded.load(tree)).state
    there = existing("", number)
    named = {
        "topics/": sorted(state.topics)[:3],
        "groups/": sorted(state.groups)[:2],
        "brokers/": sorted(map(str, state.brokers))[:2],
        "checks/": sorted(checks.TITLES),
        "tables/": table.TABLES,
        "znodes/": ["config", "brokers/topics"],
    }
    wrong: dict[str, str] = {}
    for path, operation in DOCUMENT["paths"].items():
        name = operation["get"]["operationId"]
        if name not in openapi.SHAPES:
            continue
        kind = path.removeprefix("/c/{cluster}/").partition("{")[0]
        [last] = re.findall(r"\{(\w+)\}", path)[-1:] or [""]
        for one in named[kind] if last not in {"", "cluster"} and kind in named else [""]:
            values = {**there, last: links.segment(one)} if one else there
            address = path.format(**{key: value for key, value in values.items() if f"{{{key}}}" in path})
            answer = client.get(address, {"format": "json"})
            if answer["Content-Type"] != "application/json":
                wrong[address] = f"{answer.status_code} {answer['Content-Type']}"
                continue
            error = next(_validator(path).iter_errors(answer.json()), None)
            if error is not None:
                wrong[address] = f"{answer.status_code}: {error.message} at {list(error.path)}"[:300]
    assert wrong == {}


def _validator(path: str) -> Draft202012Validator:
    [component] = re.findall(r'"#/components/schemas/(\w+)"', json.dumps(_success(path)))
    schema = {"$ref": f"#/components/schemas/{component}", "components": DOCUMENT["components"]}
    return Draft202012Validator(schema)


def _success(path: str) -> Any:
    return DOCUMENT["paths"][path]["get"]["responses"]["200"]


def _names(columns: Columns) -> set[str]:
    found = {column if isinstance(column, str) else column.name for column in columns}
    return found - {"value_reason"}


def test_nothing_in_it_is_any_object_or_any_list() -> None:
    assert [at for name, one in DOCUMENT["components"]["schemas"].items() for at in _loose(one, name)] == []


def _loose(schema: Any, at: str) -> Iterator[str]:
    """Where a schema says no more than that something is an object, a list, or anything at all."""
    kinds = schema.get("type", ())
    if not schema.keys() & {"type", "anyOf", "$ref", "enum"}:
        yield f"{at}: anything"
    if "object" in kinds and not schema.keys() & {"properties", "additionalProperties"}:
        yield f"{at}: any object"
    if "array" in kinds and "items" not in schema:
        yield f"{at}: any list"
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from _loose(schema[name], f"{at}.{name}")
    for name, one in schema.get("properties", {}).items():
        yield from _loose(one, f"{at}.{name}")
    for one in schema.get("anyOf", ()):
        yield from _loose(one, at)


def test_a_field_that_the_document_does_not_know_is_found_out(number: int) -> None:
    schema = {"$ref": "#/components/schemas/Topics", "components": DOCUMENT["components"]}
    head = {"cluster": "demo", "page": "topics", "revision": 1, "zxid": 1, "as_of": None, "stale": True}
    whole = {**head, "total": 1, "rows": [{"name": "orders"}]}
    validator = Draft202012Validator(schema)
    assert validator.is_valid(whole)
    assert not validator.is_valid({**whole, "rows": [{"name": "orders", "secret": 1}]})
    assert not validator.is_valid({**whole, "more": 1})
    assert not validator.is_valid({name: value for name, value in whole.items() if name != "zxid"})
