"""The how-to names everything that an operator can set, open, press or be told."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from django.core.management import load_command_class
from django.urls import resolve

from tests import configuration_told, screenshots
from zkdash import configuration
from zkdash.actions.execution import failpoints
from zkdash.configuration import clusters, environment, keys, sign_in, tables
from zkdash.configuration.brokers import Brokers
from zkdash.configuration.clusters import Cluster
from zkdash.configuration.limits import KEYS, Limits
from zkdash.configuration.messages import Messages
from zkdash.web import pages
from zkdash.web.frame.page import Page
from zkdash.web.serving import embeddable

ROOT = Path(__file__).resolve().parent.parent
OPERATING = (ROOT / "docs" / "operating.md").read_text()
EMBEDDING = (ROOT / "docs" / "embedding.md").read_text()
GUIDES = OPERATING + (ROOT / "docs" / "acting.md").read_text() + EMBEDDING
LOGS = (ROOT / "docs" / "logs.md").read_text()
PIPELINE = (ROOT / "docs" / "pipeline.md").read_text()
SIGN_IN = (ROOT / "docs" / "sign-in.md").read_text()
SECURING = (ROOT / "docs" / "securing.md").read_text()
README = (ROOT / "README.md").read_text()
CONFIGURATION = [path for path in (ROOT / "zkdash" / "configuration").glob("*.py") if path.stem != "__init__"]
GUIDES_BY_TASK = [ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
SCRIPT = (ROOT / "static" / "script" / "keys.js").read_text()


def test_every_environment_variable_is_declared_and_read() -> None:
    sources = {path: path.read_text() for path in (ROOT / "zkdash").rglob("*.py")}
    del sources[Path(environment.__file__)]
    read = set(re.findall(r'"(ZKDASH_\w+)"', "".join(sources.values()))) - {failpoints.VARIABLE}
    assert (
        read | {f"{name}_FILE" for name in read if f"{name}_FILE" in environment.NAMES} == environment.NAMES
    )


def test_the_page_of_the_configuration_says_what_is_declared() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    assert page == configuration_told.text(), "python -m tests.configuration_told > docs/configuration.md"


def test_every_table_of_the_file_is_on_that_page() -> None:
    """But those that hold nothing but others."""
    sources = [import_module(f"zkdash.configuration.{path.stem}") for path in CONFIGURATION]
    declared = {
        kind
        for module in sources
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, tables.Table)
    }
    told = {table for _, table, _ in configuration_told.TABLES}
    assert declared - {tables.Table, clusters.Options, sign_in.SignIn} == told


@pytest.mark.parametrize("key", sorted(keys.of(Cluster)))
def test_every_key_of_a_cluster_is_told(key: str) -> None:
    assert re.search(rf"^(?:# )?{key} = ", OPERATING + SECURING, re.MULTILINE)


@pytest.mark.parametrize("key", sorted(keys.of(Messages)))
def test_every_key_of_messages_is_told_as_it_is(key: str) -> None:
    block = tomllib.loads(OPERATING.partition("```toml\n[messages]\n")[2].partition("```")[0])
    assert key in block
    assert key == "clusters" or block[key] == getattr(Messages(), key)


@pytest.mark.parametrize("key", sorted(keys.of(Brokers)))
def test_every_key_of_brokers_is_told(key: str) -> None:
    block = SECURING.partition("[clusters.shop.brokers]\n")[2].partition("```")[0]
    assert re.search(rf"^(# )?{key} = ", block, re.MULTILINE)


@pytest.mark.parametrize(
    ("table", "key"),
    [
        *(("[sign_in.oidc]", key) for key in sorted(keys.of(sign_in.Oidc))),
        *(("[sign_in.ldap]", key) for key in sorted(keys.of(sign_in.Ldap))),
        *(("[[sign_in.roles]]", key) for key in sorted(keys.of(sign_in.GroupRole))),
    ],
)
def test_every_key_of_signing_in_is_told(table: str, key: str) -> None:
    block = SIGN_IN.partition(f"{table}\n")[2].partition("```")[0]
    assert re.search(rf"^(# )?{key} = ", block, re.MULTILINE)


@pytest.mark.parametrize("key", KEYS)
def test_every_limit_is_told_as_it_is(key: str) -> None:
    block = OPERATING.partition("```toml\n[limits]\n")[2].partition("```")[0]
    assert tomllib.loads(block)[key] == getattr(Limits(), key)


def test_how_many_files_the_limits_need_is_told() -> None:
    assert f"({Limits().files:,} of the usual ones)".replace(",", " ") in OPERATING


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_every_page_is_told(page: Page) -> None:
    route = re.sub(r"<\w+:(\w+)>", r"<\1>", page.route)
    wanted = {f"| `/c/<cluster>/{route}`", f"| `/c/<cluster>/{route}?q=…`"}
    assert any(one in OPERATING for one in wanted), route


def test_every_shortcut_is_told() -> None:
    block = SCRIPT.partition("const keys = {")[2].partition("};")[0]
    keys = re.findall(r'(?:^|,|\s)"?(\w+|[/?])"?: ', block)
    assert set(keys) >= {"/", "?", "u", "p", "g", "j", "k", "y", "Enter"}
    letters = {page.letter for page in pages.PAGES if page.letter}
    for key in {*keys, *letters}:
        assert f"`{key}`" in OPERATING, key


def test_the_links_and_pictures_of_the_documents_lead_somewhere() -> None:
    for file in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", file.read_text()):
            assert (file.parent / target).exists(), f"{file}: {target}"


def _blocks(guide: Path) -> list[tuple[str, str]]:
    """The language, "" for what a shell is told, and the text of each fenced block."""
    return re.findall(r"^ *```(\w*)\n(.*?)^ *```$", guide.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("guide", GUIDES_BY_TASK, ids=lambda guide: guide.stem)
def test_every_address_and_command_of_a_guide_is_one(guide: Path) -> None:
    words = guide.read_text()
    addresses = re.findall(r"/c/[a-z]+/[^\s`?'*)]*", words)
    told = "".join(text for language, text in _blocks(guide) if not language)
    commands = re.findall(r"\bzkdash ([a-z]+)(.*)$", told, re.MULTILINE)
    assert addresses or commands
    for address in addresses:
        resolve(address)
    for verb, options in commands:
        command = load_command_class("zkdash", "verify" if verb == "check" else verb)
        command.create_parser("zkdash", verb).parse_args(options.split())


@pytest.mark.parametrize("guide", GUIDES_BY_TASK, ids=lambda guide: guide.stem)
def test_what_a_guide_has_configured_can_be_read(guide: Path, tmp_path: Path) -> None:
    assert set(re.findall(r"\b(ZKDASH_[A-Z_]+)\b", guide.read_text())) <= environment.NAMES
    for language, text in _blocks(guide):
        if language == "toml":
            file = tmp_path / "zkdash.toml"
            file.write_text(text)
            read = configuration.read({"ZKDASH_CONFIG": str(file), "ZKDASH_EMAIL_HOST": "smtp.example.org"})
            assert read.clusters
        elif language == "yaml":
            assert yaml.safe_load(text)
        else:
            assert language in {"", "markdown"}


def test_the_site_leads_to_every_page() -> None:
    docs = ROOT / "docs"
    listed = set(re.findall(r"^- \[[^\]]+\]\(([^)]+)\)$", (docs / "index.md").read_text(), re.MULTILINE))
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert listed - {"decisions/"} == {each for each in pages if not each.startswith("decisions/")} - {
        "index.md"
    }


def test_the_readme_names_its_two_commands() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for command in ("make demo", "make test"):
        assert command in README
        assert f"\n{command.removeprefix('make ')}:" in makefile


def test_all_that_can_be_embedded_is_told() -> None:
    for name in embeddable.NUMBERS:
        assert f"`{name}`" in EMBEDDING, name
    for name in embeddable.KINDS:
        assert name in EMBEDDING, name


def test_every_option_of_a_command_is_told() -> None:
    commands = (ROOT / "zkdash" / "management" / "commands").glob("*.py")
    options = {
        option
        for path in commands
        for option, how in re.findall(r'add_argument\(\s*"(--[\w-]+)"([^\n]*)', path.read_text())
        if "SUPPRESS" not in how
    }
    assert {"--host", "--port", "--seed"} <= options
    assert [option for option in options if option not in GUIDES + PIPELINE + LOGS] == []


def test_the_pictures_are_small_enough_to_be_kept() -> None:
    sizes = [path.stat().st_size for path in (ROOT / "docs" / "screenshots").glob("*.png")]
    assert sizes
    assert max(sizes) <= screenshots.MOST_BYTES
    assert sum(sizes) <= screenshots.MOST_BYTES_IN_ALL
