from __future__ import annotations

import io
import json
import logging
import re
import threading
from collections.abc import Callable
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash import logs

FORMATTERS = (logs.LineFormatter(), logs.JsonFormatter())


def written(formatter: logging.Formatter, tell: Callable[[logging.Logger], object]) -> str:
    """What a logger with this formatter writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    logger = logging.Logger("zkdash.test", logging.INFO)  # noqa: LOG001 - nobody else's, and gone afterwards
    logger.addHandler(handler)
    tell(logger)
    return stream.getvalue()


def failing(logger: logging.Logger) -> None:
    try:
        _fail()
    except ValueError:
        logger.exception("It failed")


def _fail(text: str = "no\n2026-01-01T00:00:00.000Z INFO zkdash: forged") -> NoReturn:
    raise ValueError(text)


@pytest.mark.parametrize("formatter", FORMATTERS)
@given(
    text=st.text() | st.sampled_from(["a\nb", "\r", "\x1b[2J", "\u2028", "\u202e", "\x85", "\ud800", "\x7f"])
)
def test_whatever_a_name_holds_it_stays_on_one_line(formatter: logging.Formatter, text: str) -> None:
    told = written(formatter, lambda logger: logger.info("A topic %s", text))
    assert told.endswith("\n")
    assert len(told[:-1].splitlines()) == 1
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e\ud800-\udfff]", told[:-1])


@given(name=st.text())
def test_a_json_line_holds_the_message_as_it_was(name: str) -> None:
    told = json.loads(written(logs.JsonFormatter(), lambda logger: logger.info("%s", name)))
    assert told["message"] == name
    assert (told["level"], told["logger"]) == ("INFO", "zkdash.test")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", told["time"])


def test_a_line_tells_what_it_is_about() -> None:
    with logs.about(
        lambda: {"request": "f00", "user": "ann b", "cluster": "main", "action": 4, "none": None}
    ):
        line = written(
            logs.LineFormatter(), lambda logger: logger.info("Done", extra={logs.FIELDS: {"ms": 1.5}})
        )
        told = json.loads(written(logs.JsonFormatter(), lambda logger: logger.info("Done")))
    assert line.endswith(' INFO zkdash.test: Done request=f00 user="ann b" cluster=main action=4 ms=1.5\n')
    assert {"request": "f00", "user": "ann b", "cluster": "main", "action": 4}.items() <= told.items()
    assert written(logs.LineFormatter(), lambda logger: logger.info("Done")).endswith(": Done\n")


def test_a_thread_of_its_own_is_about_something_else() -> None:
    told: list[str] = []
    with logs.about(lambda: {"action": 4}):
        thread = threading.Thread(
            target=lambda: told.append(written(logs.LineFormatter(), lambda logger: logger.info("Done")))
        )
        thread.start()
        thread.join()
    assert told[0].endswith(": Done\n")


def test_a_traceback_cannot_look_like_another_record() -> None:
    first, *others = written(logs.LineFormatter(), failing).splitlines()
    assert first.endswith("ERROR zkdash.test: It failed")
    assert all(line.startswith("    ") for line in others)
    [line] = written(logs.JsonFormatter(), failing).splitlines()
    assert json.loads(line)["error"].startswith("Traceback (most recent call last):\n")


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_what_is_to_be_hidden_is_in_no_line(formatter: logging.Formatter) -> None:
    with logs.about(lambda: {"user": "a secret"}, lambda: ("secret",)):
        told = written(formatter, lambda logger: logger.info("GET /welcome/secret/"))
    assert "secret" not in told
    assert told.count(logs.HIDDEN) == 2


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_what_is_long_is_cut_and_a_secret_is_hidden_before(formatter: logging.Formatter) -> None:
    text = "a" * (logs.MOST_CHARACTERS - 3) + "secret" + "b" * 10_000
    with logs.about(lambda: {"user": text}, lambda: ("secret",)):
        told = written(formatter, lambda logger: logger.info("%s", text))
    assert "secr" not in told.replace("<hidden>", "")
    assert len(told) < 2 * logs.MOST_CHARACTERS + 500
    assert "characters)" in told


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_a_traceback_is_cut_too(formatter: logging.Formatter) -> None:
    def fail(logger: logging.Logger) -> None:
        try:
            _fail("a long line " * 10_000 + "\nline" * 10_000)
        except ValueError:
            logger.exception("It failed")

    told = written(formatter, fail)
    assert len(told) < 2 * logs.MOST_CHARACTERS + 20 * logs.MOST_LINES
    assert "Traceback (most recent call last):" in told
    assert "lines)" in told


@pytest.mark.parametrize(
    ("name", "is_told"), [("django.security.DisallowedHost", False), ("django.request", True)]
)
def test_what_is_the_senders_fault_has_no_traceback(name: str, is_told: bool) -> None:
    error = ValueError("no")
    record = logging.LogRecord(name, logging.ERROR, "", 0, "It failed", (), (ValueError, error, None))
    assert logs.Brief().filter(record)
    assert (record.exc_info is not None) == is_told
