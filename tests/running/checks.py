"""What is checked before any suite is run: `make check`, and the beginning of `make test`."""

from __future__ import annotations

import json
import re
from typing import Final

from tests.running.jobs import BIN, Job
from tests.running.suites import HOUSE

NAME: Final = "check"

# As docs/operating.md has it behind a proxy that speaks TLS.
_SHIPPED: Final = {"ZKDASH_HTTPS": "1", "ZKDASH_PROXIES": "127.0.0.1", "ZKDASH_DEBUG": "0"}
_STRICT: Final = ("--fail-level", "WARNING")
_BANDIT: Final = (
    *("--quiet", "--severity-level", "medium", "--configfile", "pyproject.toml"),
    *("--recursive", "zkdash", "manage.py"),
)
_WRITTEN: Final = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", ".github", "deploy", "templates", "static"),
    *("zkdash", "tests", "bench", "Makefile", "pyproject.toml", "requirements.txt"),
)
# As `make docs`: a link that leads nowhere fails it.
_SITE: Final = ("--quiet", "--fail-on-warning", "--keep-going", "--fresh-env", "docs", "var/docs")
_ALONE: Final = ("--no-header", "--quiet", "--noconftest", "-p", "no:cacheprovider", "-p", "no:randomly")
# A request must end soon where there is no network: then nothing is known, and the line says so.
_AUDIT: Final = ("--local", "--format", "json", "--progress-spinner", "off", "--timeout", "2")


def jobs() -> list[Job]:
    """All that needs no network, in order: the longest begins, and beside it the cheapest come first."""
    manage = (BIN / "python", "manage.py")
    return [
        Job("mypy", (BIN / "mypy",)),
        Job("ruff format --check", (BIN / "ruff", "format", "--check", ".")),
        Job("ruff check", (BIN / "ruff", "check", ".")),
        Job("lint-imports", (BIN / "lint-imports", "--no-logo")),
        Job("manage.py check", (*manage, "check", *_STRICT)),
        Job("house", (BIN / "pytest", *_ALONE, HOUSE)),
        Job("templates", (BIN / "python", "-m", "tests.running.templates")),
        Job("manage.py makemigrations --check", (*manage, "makemigrations", "--check", "--dry-run")),
        Job("manage.py check --deploy", (*manage, "check", "--deploy", *_STRICT), _SHIPPED),
        Job("docs", (BIN / "sphinx-build", *_SITE)),
        Job("references", (BIN / "python", "-m", "tests.references", "--check")),
        Job("promises", (BIN / "python", "-m", "tests.promises", "--check")),
        Job("codespell", (BIN / "codespell", *_WRITTEN)),
        Job("bandit", (BIN / "bandit", *_BANDIT)),
    ]


def audit() -> Job:
    """Ask PyPI for what is known to be vulnerable (decision 0009)."""
    return Job("pip-audit", (BIN / "pip-audit", *_AUDIT), again="make audit", says=audited)


def audited(printed: str) -> str:
    """What pip-audit's JSON tells where it found nothing: "ok" where every package could be asked about."""
    found = re.search(r"^{.*}$", printed, re.MULTILINE)
    packages = json.loads(found[0])["dependencies"] if found else []
    asked = sum("vulns" in one for one in packages)
    return "ok" if packages and asked == len(packages) else f"unknown: {asked} of {len(packages)} asked"
