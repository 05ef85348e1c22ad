"""What is checked without a test: what pip-audit says and does not say, and templates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.template.engine import Engine

from tests.running import checks, templates


def test_an_audit_is_well_only_where_every_package_could_be_asked_about() -> None:
    known, unknown = {"name": "a", "vulns": []}, {"name": "b", "skip_reason": "not found"}
    assert checks.audited(json.dumps({"dependencies": [known, known]})) == "ok"
    noise = "No known vulnerabilities found\n"
    assert checks.audited(noise + json.dumps({"dependencies": [known, unknown]})) == "unknown: 1 of 2 asked"
    assert checks.audited("no network") == "unknown: 0 of 0 asked"


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """A directory of templates that Django's engine knows beside ours."""
    engine = Engine.get_default()
    engine.dirs.append(str(tmp_path))
    for loader in engine.template_loaders:
        loader.reset()
    yield tmp_path
    engine.dirs.remove(str(tmp_path))
    for loader in engine.template_loaders:
        loader.reset()


def test_a_template_that_does_not_parse_is_told_and_one_that_names_what_is_not_there(directory: Path) -> None:
    below = directory / "some"
    below.mkdir()
    (below / "good.html").write_text(
        '{% extends "base.html" %}{% include named %}{% include "some/bad.html" %}'
    )
    (below / "bad.html").write_text("{% if %}")
    (below / "lost.html").write_text(
        '{% extends "base.html" %}{% block main %}{% include "no.html" %}{% endblock %}'
    )
    (below / "unknown.html").write_text("{% load no_such_tags %}")
    bad, lost, unknown = templates.refused(directory)
    assert bad.startswith("some/bad.html: ")
    assert lost == "some/lost.html: there is no no.html"
    assert unknown.startswith("some/unknown.html: 'no_such_tags' is not a registered tag library")
