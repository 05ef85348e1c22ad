"""Whatever is written into ZooKeeper, an address or a form: it is data in CSV, headers, redirects and pages.

A few hundred of each in every run, ten thousand by `make faults ONLY=injection`.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable
from urllib.parse import quote, unquote, urlsplit

import hypothesis
import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from tests import full
from tests.web import states
from tests.web.markup import Markup
from zkdash.web.frame import exports, links
from zkdash.web.frame.page import View

TRIES = 10_000 if full.is_full() else 200
PATIENT = hypothesis.settings(max_examples=TRIES, suppress_health_check=list(HealthCheck))
# Each of these asks the whole of zkdash, some of them three times.
ASKING = hypothesis.settings(PATIENT, max_examples=TRIES if full.is_full() else 30)
# What a spreadsheet may take for the beginning of a formula, once it has dropped what it does not show.
FORMULAS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
PAYLOADS = (
    '{{ "zk"|upper }}-{{ "ran"|upper }}',
    "{% now 'Y' %}",
    "{{ settings.SECRET_KEY }}",
    "${7*7}",
    "<script>",
    "'\"><b></b>",
    "' onclick=x",
    "&lt;",
    "#{7*7}",
)
MARKUP = st.sampled_from(PAYLOADS)
HOSTILE = st.one_of(st.text(), MARKUP, st.tuples(st.text(), MARKUP, st.text()).map("".join))
ADDRESSES = st.one_of(
    st.text(),
    st.tuples(
        st.sampled_from(
            ["", "/", "//", "/\\", "\\\\", "///", "http:", "https://", "javascript:", "\t//", "/\t/", "/%2f"]
        ),
        st.sampled_from(
            ["evil.example", "testserver@evil.example", "evil.example\\@testserver", "%2f%2fevil", "c/demo/"]
        ),
        st.text(max_size=5),
    ).map("".join),
)


@pytest.fixture(autouse=True)
def _published(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    states.publish(states.healthy())


@pytest.fixture(scope="module")
def asker() -> Client:
    """One for thousands of requests: each client's middleware begins by looking for every static file."""
    return Client()


@PATIENT
@given(
    st.one_of(
        st.text(),
        st.tuples(st.text(" ", max_size=2), st.sampled_from(FORMULAS + "\u00a0\u200b"), st.text()).map(
            "".join
        ),
    )
)
def test_no_cell_of_a_csv_begins_a_formula(text: str) -> None:
    view = View(title="", parts=(), fields=("a",), records=lambda: [{"a": text}, {"a": [text]}])
    answer = exports.as_csv(view, "demo").content.decode()
    for row in list(csv.reader(io.StringIO(answer, newline="")))[1:]:
        for cell in row:
            assert not cell.lstrip(" ").startswith(tuple(FORMULAS)), repr(cell)


@PATIENT
@given(name=HOSTILE)
def test_a_name_is_one_segment_of_an_address_and_comes_back(name: str) -> None:
    segment = links.segment(name)
    assert re.fullmatch(r"[A-Za-z0-9_.~%-]*", segment)
    assert segment not in {".", ".."}
    assert links.NameConverter().to_python(unquote(segment, errors="surrogatepass")) == name


@pytest.mark.django_db
@ASKING
@example(wanted="//")
@given(wanted=ADDRESSES)
def test_signing_in_leads_to_no_other_site(asker: Client, wanted: str) -> None:
    if not User.objects.filter(username="ann").exists():
        User.objects.create_user("ann", password="x")
    asker.cookies.clear()
    answer = asker.post("/sign-in/", {"username": "ann", "password": "x", "next": wanted})
    assert answer.status_code == 302
    target = answer["Location"]
    assert urlsplit(target).netloc in {"", "testserver"}, target
    assert not re.match(r"[\\/\s]{2}", target), target
    assert not re.search(r"[\r\n\t\\]", target), target
    assert urlsplit(target).scheme in {"", "http", "https"}, target


def _with_each_payload(test: Callable[..., None]) -> Callable[..., None]:
    """What is drawn may miss some of them: each is tried at least once, as a name and as a value."""
    for payload in PAYLOADS:
        test = example(name=payload, value=payload)(test)
    return test


@pytest.mark.django_db
@ASKING
@_with_each_payload
@given(name=HOSTILE, value=HOSTILE)
def test_what_an_address_holds_is_neither_markup_nor_template_nor_header(
    asker: Client, name: str, value: str
) -> None:
    """Asked as a topic, as a search and as a parameter that there is not."""
    asker.cookies.clear()
    segment = links.segment(name)
    query = f"{quote(name, errors='surrogatepass')}={quote(value, errors='surrogatepass')}"
    for path in (
        f"/c/demo/topics/{segment}/?{query}",
        f"/c/demo/search/?q={segment}",
        f"/c/demo/topics/?{query}",
    ):
        answer = asker.get(path)
        assert answer.status_code in {200, 302, 404}, path
        for header in answer.headers.values():
            assert not re.search(r"[\r\n\x00]", header), (path, header)
        if answer.status_code == 302:
            assert answer["Location"].startswith("/c/demo/"), answer["Location"]
            continue
        page = Markup.of(answer.content)
        assert (
            page.root.xpath(
                "//script[not(@src)] | //b[not(@*)][not(node())] | //@*[starts-with(name(), 'on')]"
            )
            == []
        )
        text = answer.content.decode()
        assert configured.SECRET_KEY not in text
        assert "ZK-RAN" not in text


@pytest.mark.parametrize(
    "path",
    [
        "/static/../zkdash/settings.py",
        "/static/%2e%2e/zkdash/settings.py",
        "/static/..%2f..%2fmanage.py",
        "/static/....//manage.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/..\\manage.py",
        "/static/%00/etc/passwd",
        "/static/style/base.css/../../manage.py",
        "/c/../../etc/passwd",
        "/c/demo/topics/..%2f..%2f..%2fetc%2fpasswd/",
    ],
)
def test_no_file_but_ours_is_served(path: str) -> None:
    answer = Client().get(path)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    assert answer.status_code in {400, 404}, path
    assert b"DJANGO_SETTINGS_MODULE" not in body
    assert b"root:" not in body
    assert os.fsencode(configured.BASE_DIR) not in body


@pytest.mark.django_db
@ASKING
@given(name=st.text(st.characters(blacklist_categories=["Cs"]), min_size=1))
def test_no_header_of_a_request_comes_back_as_one(asker: Client, name: str) -> None:
    asker.cookies.clear()
    answer = asker.get(
        "/c/demo/topics/?format=csv",
        headers={"accept": name, "x-forwarded-host": name, "hx-current-url": name},
    )
    for key, value in answer.headers.items():
        assert not re.search(r"[\r\n\x00]", key + value)
    assert answer["Content-Disposition"] == 'attachment; filename="demo-topics.csv"'
