"""Which test modules a change may make fail: those that reach what changed.

What imports what is grimp's to find. Beside that a test reaches what it names in a string (a module, a
program), what the fixtures reach that it names, all pages where it asks Django or runs manage.py, and
templates where it reaches `zkdash.web`. Rather is something reached in vain than missed; and where a change
cannot be placed (a migration, a requirement, data of tests), everything may fail.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import grimp

from tests.running.jobs import ROOT
from tests.running.mentions import Conftest, Mentions, file, mentioned
from tests.running.suites import HOUSE

MAIN: Final = "main"

# What stands for many: nodes of the graph that are no modules.
_SERVED: Final = "<whatever Django serves>"
_COMMANDS: Final = "<commands>"
_TEMPLATES: Final = "<templates and static files>"
_DOCUMENTS: Final = "<documents>"
_SOURCES: Final = "<sources of zkdash>"
_PROGRAMS: Final = "zkdash.management.commands"
# What a path is joined from, and what of these is looked into then.
_LOOKED_INTO: Final = {"zkdash": _SOURCES, "templates": _TEMPLATES, "static": _TEMPLATES, "docs": _DOCUMENTS}

# Who finds modules by walking a package, so that no import names them.
_WALKS: Final = {
    "zkdash.cluster.plans.registry": "zkdash.cluster.plans.kinds.",
    "zkdash.web.actions.forms": "zkdash.web.actions.forms.",
}

# Who imports one of these, or has one of these fixtures, asks Django for a page rather than what makes it.
_ASKING: Final = ("django.test", "django.urls", "django.template", "channels.testing")
_ASKING_FIXTURES: Final = frozenset(
    {"client", "async_client", "admin_client", "rf", "async_rf", "live_server"}
)
_UNPLACED: Final = re.compile(
    r"zkdash/(__init__|settings|(.*/)?apps|[^/]+/admin|.*/migrations/.*)\.py|tests/(.*/)?conftest\.py"
)
_MODULE: Final = re.compile(r"\b(?:zkdash|tests|bench)(?:\.\w+)+")
_FROM: Final = re.compile(r"\bfrom ((?:zkdash|tests|bench)[.\w]*) import ([\w, ]+)")


def since(base: str = MAIN, root: Path = ROOT) -> set[str] | None:
    """The paths that differ from where this work left `base`, committed or not, known to git or not.

    None where git knows no such branch.
    """
    fork = _git(root, "merge-base", base, "HEAD")
    if fork is None:
        return None
    differing = _git(root, "diff", "--name-only", "--no-renames", "-z", fork.strip()) or ""
    unknown = _git(root, "ls-files", "--others", "--exclude-standard", "-z") or ""
    return {path for path in (differing + unknown).split("\0") if path}


def _git(root: Path, *arguments: str) -> str | None:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


class UnplacedError(Exception):
    """A path of which nobody can tell what it may make fail; the message is the path."""


def reaching(paths: Iterable[str]) -> list[str]:
    """The test modules of suites that reach one of these paths, "zkdash/znode.py". Raises UnplacedError."""
    changed = {node for path in paths for node in graph().placed(path)}
    return sorted(graph().reaching(changed) - {HOUSE})


@functools.cache
def graph() -> Graph:
    """The graph of the modules as they are."""
    return Graph()


class Graph:
    """What reaches what: modules by their dotted names, what conftests hold as "tests.conftest:zookeeper"."""

    def __init__(self) -> None:
        imports = grimp.build_graph("zkdash", "tests", "bench", cache_dir=None)
        self._modules = frozenset(module for module in imports.modules if file(module).is_file())
        self._reached_by: defaultdict[str, set[str]] = defaultdict(set)
        conftests = {module: Conftest(module) for module in self._modules if _is_conftest(module)}
        for conftest in conftests.values():
            chain = _chain(conftest.module, conftests)
            for name, mentions in conftest.holds.items():
                self._add(f"{conftest.module}:{name}", self._named(mentions, chain))
        for module in self._modules - conftests.keys():
            imported = imports.find_modules_directly_imported_by(module)
            self._add(module, {one for one in imported if not _is_conftest(one)} | {*_packages(module)})
            self._add(module, self._named(mentioned(module), _chain(module, conftests)))
            if module.startswith("zkdash.web."):
                self._add(module, {_TEMPLATES})
        self._add(_SERVED, {"zkdash.settings", "zkdash.asgi"})
        self._add(_COMMANDS, {_SERVED, *self._below("zkdash.management.")})
        self._add(_TEMPLATES, self._below("zkdash.web.templatetags."))
        for module, package in _WALKS.items():
            self._add(module, self._below(package))

    def placed(self, path: str) -> set[str]:
        """The nodes that a path is of. Raises UnplacedError."""
        top, _, _ = path.partition("/")
        if top in {"templates", "static"}:
            return {_TEMPLATES}
        if top == "docs" or re.fullmatch(r"[^/]+\.md", path):
            return {_DOCUMENTS}
        if top not in {"zkdash", "tests", "bench"} or not path.endswith(".py") or _UNPLACED.fullmatch(path):
            raise UnplacedError(path)
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if _is_test(module):
            return {module}
        # It was removed, or Django finds it by itself.
        if module not in self._modules or (top == "zkdash" and not self.reaching({module})):
            raise UnplacedError(path)
        return {module, _SOURCES} if top == "zkdash" else {module}

    def reaching(self, nodes: Iterable[str]) -> set[str]:
        """The paths of the test modules that reach one of these nodes, or are one."""
        found = list(nodes)
        seen = set(found)
        for node in found:
            found += self._reached_by[node] - seen
            seen |= self._reached_by[node]
        return {file(node).relative_to(ROOT).as_posix() for node in seen & self._modules if _is_test(node)}

    def _add(self, node: str, reached: Iterable[str]) -> None:
        for one in reached:
            self._reached_by[one].add(node)

    def _named(self, mentions: Mentions, conftests: list[Conftest]) -> Iterator[str]:
        """What is reached by naming it, for who has these conftests; who has none is no test."""
        told = {name for text in mentions.strings for name in _dotted(text)}
        reached = {self._module_of(name) for name in told | mentions.imports}
        reached |= {f"{name}.__main__" for name in told}
        yield from (one for one in reached & self._modules if not _is_conftest(one))
        if not conftests:
            return
        if "manage.py" in mentions.strings:
            yield _COMMANDS
        if "call_command" in mentions.names:
            yield from {f"{_PROGRAMS}.{text}" for text in mentions.strings} & self._modules
        if mentions.arguments & _ASKING_FIXTURES or any(map(_asks, mentions.imports)):
            yield _SERVED
        if any(text.endswith(".md") for text in mentions.strings):
            yield _DOCUMENTS
        yield from (_LOOKED_INTO[name] for name in mentions.joined & _LOOKED_INTO.keys())
        for conftest in conftests:
            names = conftest.holds.keys() & (mentions.names | mentions.strings | conftest.always)
            yield from (f"{conftest.module}:{name}" for name in names)

    def _below(self, package: str) -> set[str]:
        return {module for module in self._modules if module.startswith(package)}

    def _module_of(self, name: str) -> str:
        """The module that a dotted name is of, or is in."""
        while name not in self._modules and "." in name:
            name = name.rpartition(".")[0]
        return name


def _asks(imported: str) -> bool:
    return imported.startswith(_ASKING)


def _dotted(text: str) -> Iterator[str]:
    """What a string tells of modules of ours: a dotted name, or a program that imports."""
    yield from _MODULE.findall(text)
    if text == "bench":  # a program
        yield text
    for module, names in _FROM.findall(text):
        yield from (f"{module}.{name.strip()}" for name in names.split(","))


def _is_test(module: str) -> bool:
    return module.startswith("tests.") and module.rpartition(".")[2].startswith("test_")


def _is_conftest(module: str) -> bool:
    return module.endswith(".conftest")


def _chain(module: str, conftests: Mapping[str, Conftest]) -> list[Conftest]:
    """The conftests that a module below tests/ has, itself if it is one; no other module has any."""
    if not module.startswith("tests."):
        return []
    names = [f"{package}.conftest" for package in _packages(module)]
    return [conftests[name] for name in names if name in conftests]


def _packages(module: str) -> list[str]:
    """The packages that a module is in: "zkdash.web" and "zkdash" for "zkdash.web.pages"."""
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)]
