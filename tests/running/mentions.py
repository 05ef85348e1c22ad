"""What a piece of Python names: what it imports, what it tells in strings, what it joins to paths."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from tests.running.jobs import ROOT


class Mentions:
    """What a piece of Python names."""

    def __init__(self, tree: ast.AST) -> None:
        self.names: set[str] = set()
        self.strings: set[str] = set()
        self.imports: set[str] = set()
        self.joined: set[str] = set()  # to a path
        self.arguments: set[str] = set()  # of tests
        for node in ast.walk(tree):
            self._see(node)

    def _see(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name) | ast.arg(arg=name):
                self.names.add(name)
            case ast.Constant(value=str(text)):
                self.strings.add(text)
            case ast.BinOp(op=ast.Div(), right=ast.Constant(value=str(text))):
                self.joined.add(text)
            case ast.Call(func=ast.Name(id="Path"), args=[ast.Constant(value=str(text)), *_]):
                self.joined.add(text)
            case ast.Import(names=names):
                self.imports |= {one.name for one in names}
            case ast.ImportFrom(module=str(module), names=names):
                self.imports |= {module, *(f"{module}.{one.name}" for one in names)}
            case ast.FunctionDef(name=name, args=given) | ast.AsyncFunctionDef(name=name, args=given):
                if name.startswith("test_"):
                    self.arguments |= {one.arg for one in (*given.args, *given.kwonlyargs)}


class Conftest:
    """What a conftest holds by name, its fixtures above all, with what each of these mentions."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.holds: dict[str, Mentions] = {}
        self.always: set[str] = set()  # of these, what is there for tests that do not name it
        for statement in ast.parse(file(module).read_text(encoding="utf-8")).body:
            match statement:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    self.holds[name] = Mentions(statement)
                    if _is_automatic(statement):
                        self.always.add(name)
                case ast.ClassDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                    self.holds[name] = Mentions(statement)
                case ast.ImportFrom(module=str(source), names=names):
                    for one in names:
                        self.holds[one.asname or one.name] = Mentions(ast.ImportFrom(source, [one], 0))
                        if one.name in _automatic(source):
                            self.always.add(one.asname or one.name)


@functools.cache
def _automatic(module: str) -> frozenset[str]:
    """The fixtures of a module of ours that tests have without naming them."""
    path = file(module)
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else []
    return frozenset(one.name for one in body if isinstance(one, ast.FunctionDef) and _is_automatic(one))


def _is_automatic(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    keywords = [
        one for each in function.decorator_list if isinstance(each, ast.Call) for one in each.keywords
    ]
    return any(one.arg == "autouse" for one in keywords)


def mentioned(module: str) -> Mentions:
    """What a module of ours mentions."""
    return Mentions(ast.parse(file(module).read_text(encoding="utf-8")))


def file(module: str) -> Path:
    """Where a module of ours would be: "zkdash.web" is zkdash/web/__init__.py."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if (path / "__init__.py").is_file() else path.with_suffix(".py")
