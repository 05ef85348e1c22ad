"""What holds of every table: each key says what it is for, and what is usual is what may be written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec import inspect

from zkdash import configuration
from zkdash.configuration import keys, tables
from zkdash.configuration.clusters import Cluster
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.file import Document
from zkdash.configuration.keys import Key
from zkdash.configuration.limits import Limits
from zkdash.configuration.notices import Smtp
from zkdash.configuration.sign_in import GroupRole
from zkdash.configuration.tables import Place


def _tables(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    """A table, and those in it."""
    yield kind
    for key in keys.of(kind).values():
        takes = keys.item(key).takes if isinstance(key.takes, inspect.VarTupleType) else key.takes
        inner = takes.value_type if isinstance(takes, inspect.DictType) else takes
        if isinstance(inner, inspect.StructType):
            yield from _tables(inner.cls)


TABLES = sorted(set(_tables(Document)), key=lambda kind: kind.__name__)
DECLARED: list[type[msgspec.Struct]] = [*TABLES, Smtp]
KEYS = [(kind, key) for kind in DECLARED for key in keys.of(kind).values()]


def test_all_tables_are_found() -> None:
    assert [kind.__name__ for kind in TABLES] == [
        *(
            "Brokers",
            "Checks",
            "Cluster",
            "Document",
            "GroupRole",
            "Ldap",
            "Limits",
            "LogDirs",
            "Messages",
            "Oidc",
            "SignIn",
        ),
    ]


@pytest.mark.parametrize(("kind", "key"), KEYS, ids=lambda one: getattr(one, "name", one.__class__.__name__))
def test_every_key_says_what_it_is_for_and_its_number_has_bounds(
    kind: type[msgspec.Struct], key: Key
) -> None:
    assert key.description[:1].isupper() or key.description.startswith('"')
    assert key.description.endswith(".")
    if isinstance(key.takes, inspect.IntType | inspect.FloatType) and kind is not Smtp:
        assert key.takes.le is not None
        assert key.takes.ge is not None or key.takes.gt is not None


@pytest.mark.parametrize("key", [key for kind, key in KEYS if kind is not Smtp], ids=lambda key: key.name)
def test_what_is_usual_may_be_written(key: Key) -> None:
    if not key.required and key.default is not None:
        written = msgspec.to_builtins(key.default)
        assert msgspec.convert(written, key.annotation) == key.default


def test_no_table_takes_what_it_does_not_know() -> None:
    for kind in TABLES:
        if kind is not Document:
            with pytest.raises(msgspec.ValidationError, match="unknown field `colour`"):
                msgspec.convert({"colour": 1, "zookeeper": "h", "group": "g", "role": "viewer"}, kind)


def test_what_a_table_lacks_is_as_usual_else_as_declared() -> None:
    place = Place("f.toml", "clusters.a")
    found = tables.read(Cluster, place, {"zookeeper": "h", "approval": True}, {"markers": False})
    assert (found.approval, found.markers, found.ask_brokers) == (True, False, True)
    found = tables.read(Cluster, place, {"markers": True}, found)
    assert (found.zookeeper, found.approval, found.markers) == ("h", True, True)


def test_a_whole_number_may_have_a_point_and_a_text_space_around_it() -> None:
    assert tables.read(Limits, Place("f.toml", "limits"), {"feeds": 150.0}).feeds == 150
    row = {"group": " ops ", "role": "viewer"}
    assert tables.read(GroupRole, Place("f.toml", "[sign_in.roles]"), row).group == "ops"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "colour = 1",
            "{} has the unknown key 'colour': known are checks, clusters, limits, messages, sign",
        ),
        ("limits = 1", "{}: limits = 1 is no table: write [limits]."),
        ("[clusters.a]\nzookeper = 'x'", "{}: [clusters.a] has the unknown key 'zookeper': known are appro"),
        ("[clusters.a]", '{}: [clusters.a] lacks the key zookeeper: add zookeeper = "host:2181/chroot".'),
        (
            "[clusters.a]\nzookeeper = 'h'\nsession_timeout_s = 0",
            "{}: [clusters.a] session_timeout_s = 0 is no number of seconds from 1 to 600.",
        ),
        (
            "[clusters.a]\nzookeeper = 'h'\nmail = ['a@b', 'c']",
            "{}: [clusters.a] mail: 'c' is no address: write name@host, and nothing else.",
        ),
        (
            "[clusters.a]\nzookeeper = 'h'\nwebhooks = ['https://a', 'secret']",
            "{}: [clusters.a] webhooks: number 2 is no address that can be told: write https://host/path",
        ),
    ],
)
def test_a_sentence_names_file_table_key_and_what_to_do(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "zkdash.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        configuration.read({"ZKDASH_CONFIG": str(file)})
    assert str(caught.value).startswith(sentence.format(file))
