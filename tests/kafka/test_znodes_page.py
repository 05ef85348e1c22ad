"""docs/znodes.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from zkdash.kafka import layouts, paths, secrets, znode_kinds
from zkdash.kafka.znode_kinds import Kind

_PAGE = (Path(__file__).parents[2] / "docs" / "znodes.md").read_text()


class _Section(NamedTuple):
    kind: Kind
    text: str

    @property
    def paths(self) -> list[str]:
        """The paths of the section's first paragraph, their placeholders filled in."""
        first = self.text.partition("\n\n")[0]
        filled = {"<partition>": "0", "<id>": "7", "<part>": "7-0"}
        found = re.findall(r"`(/[^`]*)`", first)
        return [re.sub(r"<\w+>", lambda name: filled.get(name[0], "any"), path) for path in found]

    @property
    def examples(self) -> list[bytes]:
        """The data of the section's table. In a table Markdown wants a vertical bar escaped."""
        rows = re.findall(r"^\| .+? \| `(.*)` \|$", self.text, re.MULTILINE)
        return [row.replace("\\|", "|").encode() for row in rows]


_SECTIONS = [
    _Section(Kind[title], text.strip())
    for title, text in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", _PAGE, re.MULTILINE | re.DOTALL)
]


def test_the_page_has_a_section_for_each_kind() -> None:
    assert sorted(section.kind for section in _SECTIONS) == sorted(Kind)


@pytest.mark.parametrize("section", _SECTIONS, ids=lambda section: section.kind.name)
def test_each_documented_path_is_located_as_its_kind(section: _Section) -> None:
    assert section.paths
    assert {paths.locate(path).kind for path in section.paths} == {section.kind}


@pytest.mark.parametrize("section", _SECTIONS, ids=lambda section: section.kind.name)
def test_each_documented_example_is_well_formed(section: _Section) -> None:
    for data in section.examples:
        value, reasons = znode_kinds.parse(paths.locate(section.paths[0]), data)
        assert value is not None
        assert reasons == ()


@pytest.mark.parametrize("section", _SECTIONS, ids=lambda section: section.kind.name)
def test_each_kind_that_is_read_names_its_parser_and_shows_an_example(section: _Section) -> None:
    named = re.findall(r"`(\w+)\.(parse_\w+)`", section.text)
    is_read = (
        section.kind is not Kind.MISNAMED and znode_kinds.parse(paths.locate(section.paths[0]), b"{")[1] != ()
    )
    assert bool(named) == bool(section.examples) == (is_read or section.kind is Kind.OWNER)
    for module, function in named:
        assert callable(getattr(getattr(layouts, module), function))


def test_the_page_names_every_root_and_every_secret_place() -> None:
    introduction = _PAGE.partition("## ")[0]
    for root in paths.ROOTS:
        assert f"`{root}`" in introduction
    for root in ("/config/users", "/config/brokers", "/delegation_token"):
        assert secrets.is_secret(root)
        assert f"`{root}`" in _SECTIONS[-1].text
