"""`python -m tests.running.templates` lets Django parse each template, and tells of those that it refuses."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import django
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.engine import Engine
from django.template.loader_tags import ExtendsNode, IncludeNode


def refused(directory: Path) -> list[str]:
    """A line for each template below the directory that is wrong: its name, and what Django says of it.

    A template that it names and that is not there is told too: Django itself finds out when it renders.
    """
    paths = sorted(path for path in directory.rglob("*") if path.is_file())
    names = [path.relative_to(directory).as_posix() for path in paths]
    return [f"{name}: {said}" for name in names for said in _wrong(name)]


def _wrong(name: str) -> list[str]:
    engine = Engine.get_default()
    try:
        parsed = engine.get_template(name)
    except (TemplateSyntaxError, UnicodeDecodeError) as error:
        return [str(error)]
    extending: Iterable[object] = parsed.nodelist.get_nodes_by_type(ExtendsNode)
    including: Iterable[object] = parsed.nodelist.get_nodes_by_type(IncludeNode)
    named = [
        *(node.parent_name for node in extending if isinstance(node, ExtendsNode)),
        *(node.template for node in including if isinstance(node, IncludeNode)),
    ]
    wanted = [getattr(name, "var", None) for name in named]  # a string, where it is no variable
    wrong = []
    for other in wanted:
        try:
            if isinstance(other, str):
                engine.find_template(other)
        except TemplateDoesNotExist:
            wrong.append(f"there is no {other}")
        except (TemplateSyntaxError, UnicodeDecodeError):  # told by its own name
            continue
    return wrong


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "zkdash.settings")
    django.setup()
    found = [line for directory in Engine.get_default().dirs for line in refused(Path(directory))]
    sys.stdout.writelines(f"{line}\n" for line in found)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
