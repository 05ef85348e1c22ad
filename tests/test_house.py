"""The rules of the house that no other check knows."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent

TOP_LEVEL = {
    *(
        "manage.py",
        "wheel_metadata.py",
        "zkdash",
        "templates",
        "static",
        "tests",
        "requirements.txt",
        "README.md",
    ),
    "requirements.lock",
    *(
        "bench",
        "docs",
        "deploy",
        "Makefile",
        "pyproject.toml",
        ".importlinter",
        ".ci",
        ".github",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
    ),
    ".gitignore",
}

MOST_OF_A_TEMPLATE = 140

# Told in pieces, so that this file does not hold what it forbids.
MACHINE_PATHS = re.compile(
    "|".join(
        [r"/(?:wor" + r"k|roo" + r"t|hom" + r"e/\w+|User" + r"s/\w+)/", "extra-" + "index", "index-" + "url"]
    )
)


def tracked() -> list[Path]:
    """Return every file that git knows and that is still there, relative to the root."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    paths = [Path(name) for name in listed.decode().split("\0") if name]
    return [path for path in paths if (ROOT / path).is_file()]


def test_the_top_level_holds_only_what_has_its_place_there() -> None:
    assert {path.parts[0] for path in tracked()} <= TOP_LEVEL
    assert [path for path in tracked() if path.parts[0] == ".ci"] == [Path(".ci/run")]


# Where msgspec converts by types that were read when the module was imported, or before there are threads.
CONVERTS = {"zkdash/actions/documents.py", "zkdash/configuration/tables.py"}


def test_no_type_is_read_by_msgspec_while_threads_run() -> None:
    """Two threads that are the first to use a type crash the process: decoders are made on import."""
    late = re.compile(
        r"^ +.*(json|msgpack)\.(decode\(.*\btype=|Decoder\([^)])|\bmsgspec\.convert\(", re.MULTILINE
    )
    sources = [path for path in tracked() if path.parts[0] == "zkdash" and path.suffix == ".py"]
    found = {str(path) for path in sources if late.search((ROOT / path).read_text(encoding="utf-8"))}
    assert found == CONVERTS


# So many modules a newcomer looks through; a room that has more is split by subject.
MOST_MODULES = 16


def test_no_room_has_too_many_doors() -> None:
    modules = Counter(
        str(path.parent)
        for path in tracked()
        if path.parts[0] == "zkdash" and path.suffix == ".py" and path.name != "__init__.py"
    )
    assert {room: count for room, count in modules.items() if count > MOST_MODULES} == {}


SAYS_NOTHING = {"one", "found", "told", "known", "held", "asked"}


def test_what_a_variable_holds_has_a_noun() -> None:
    """Not `found` but `topic`, `offsets`, `finding`: names of parameters and variables, not of fields."""
    nameless = set()
    for path in tracked():
        if path.parts[0] == "zkdash" and path.suffix == ".py":
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            fields = {id(name) for node in ast.walk(tree) for name in _fields(node)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
                    nameless.add((str(path), node.id))
                elif isinstance(node, ast.arg):
                    nameless.add((str(path), node.arg))
    assert sorted(binding for binding in nameless if binding[1] in SAYS_NOTHING) == []


def _fields(node: ast.AST) -> list[ast.expr]:
    """What a class declares: its names are written in stored rows and in JSON."""
    if not isinstance(node, ast.ClassDef):
        return []
    lines = [line for line in node.body if isinstance(line, ast.Assign | ast.AnnAssign)]
    return [
        name for line in lines for name in (line.targets if isinstance(line, ast.Assign) else [line.target])
    ]


def test_no_line_of_a_template_is_too_long_to_be_read() -> None:
    long = {
        f"{path}:{number}": len(line)
        for path in tracked()
        if path.parts[0] == "templates"
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1)
        if len(line) > MOST_OF_A_TEMPLATE
    }
    assert long == {}


def test_no_third_party_file_is_kept_here() -> None:
    def is_foreign(path: Path) -> bool:
        return bool({"node_modules", "vendor"} & set(path.parts)) or bool(
            re.search(
                r"\.min\.\w+$|\.map$|\.(jar|whl|so|dll|woff2?|ttf)$|(^|[-.])(htmx|jquery|bootstrap)[-.\w]*\.js$",
                path.name,
            )
        )

    assert [path for path in tracked() if is_foreign(path)] == []


def test_no_committed_text_knows_a_path_of_somebodys_machine() -> None:
    def tells(path: Path) -> list[str]:
        text = (ROOT / path).read_text(errors="replace")
        return [f"{path}: {found[0]}" for found in MACHINE_PATHS.finditer(text)]

    # Recorded from real clusters: data, not our words.
    ours = [path for path in tracked() if path.parts[:2] != ("tests", "fixtures") and path.name != "LICENSE"]
    assert [told for path in ours for told in tells(path)] == []


def test_every_requirement_has_a_version_a_reason_and_a_changelog() -> None:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    asked = [line for line in lines if line and not line.startswith("#")]
    assert [
        line
        for line in asked
        if not re.fullmatch(r"[\w.-]+(?:\[[\w,]+\])?(==|>=|<)\S+ +# .{10,}\. https://\S+", line)
    ] == []
    names = [re.split(r"[=<>]", line)[0].lower() for line in asked]
    assert len(set(names)) == len(names)


def test_the_lock_holds_every_requirement_in_a_version_that_it_allows_and_with_hashes() -> None:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    asked = [Requirement(line.partition(" #")[0]) for line in lines if line and not line.startswith("#")]
    entries = re.findall(
        r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;]+)[^\\\n]*((?:\\\n +--hash=sha256:[0-9a-f]{64} ?)*)$",
        (ROOT / "requirements.lock").read_text(),
        re.MULTILINE,
    )
    assert [name for name, _version, hashes in entries if not hashes] == []
    locked = {canonicalize_name(name): version for name, version, _hashes in entries}
    assert [
        str(one)
        for one in asked
        if not one.specifier.contains(locked.get(canonicalize_name(one.name), "0"), prereleases=True)
    ] == []


def test_the_tests_are_no_packages() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_the_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
