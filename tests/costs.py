"""What hostile addresses and bodies cost a serving process: every route there is, in seconds of its CPU.

Requests are made from the routes themselves: what each part of a path, each field of each form that a page
holds and each parameter of its links may hold. So a new route, and a new field, is tried by itself.
"""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from html.parser import HTMLParser
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from tests.serving import ANSWER_LIMIT_S
from tests.web.test_matrix import ROUTES
from zkdash.web.actions import forms
from zkdash.web.middleware import bodies

# What the promise says, of the reference cluster and of any smaller.
MOST_S: Final = 1.0
# How much dearer what is four times as long may be: what grows as its square is sixteen times as dear.
GROWTH: Final = 4
MOST_GROWTH: Final = 8.0
# Less is lost in what the process does anyway.
NOTICED_S: Final = 0.15

# A head holds 64 KiB, percent-encoded.
_LONGEST_QUERY: Final = 60_000
_MOST_READ: Final = 4 * 2**20
_PARAMETER: Final = re.compile(r"<(?:(\w+):)?(\w+)>")


class Request(NamedTuple):
    """One request: `route` and `what` name it to a person."""

    route: str
    what: str
    path: str
    method: str = "GET"
    body: bytes = b""
    kind: str = "application/x-www-form-urlencoded"


class Answer(NamedTuple):
    status: int
    cpu_s: float
    text: str


class Site:
    """A serving process as who is signed in there sees it."""

    def __init__(self, address: str, pid: int, cookie: str = "") -> None:
        self._address, self._cookie = urlsplit(address), cookie
        self._clock = (~pid << 3) | 2  # CPUCLOCK_SCHED of a whole process, see clock_getcpuclockid(3)
        self._names: dict[str, _Names] = {}
        self._token = ""
        self._token = re.findall(r"csrftoken=(\w+)", self._asked(Request("", "", "/password/"))[2])[0]

    def names(self, path: str) -> _Names:
        """What a page's forms and links ask for."""
        if path not in self._names:
            found = self._names[path] = _Names()
            found.feed(self.ask(Request("", "", path)).text)
        return self._names[path]

    def ask(self, request: Request) -> Answer:
        """What it answers, and what that cost all of its threads."""
        began = time.clock_gettime(self._clock)
        status, text, _ = self._asked(request)
        return Answer(status, time.clock_gettime(self._clock) - began, text)

    def _asked(self, request: Request) -> tuple[int, str, str]:
        headers = {"Connection": "close", "Cookie": f"{self._cookie}; csrftoken={self._token}"}
        headers |= {"X-CSRFToken": self._token, "Content-Type": request.kind, "Accept": "text/html"}
        connection = http.client.HTTPConnection(
            self._address.hostname or "", self._address.port, timeout=ANSWER_LIMIT_S
        )
        try:
            connection.request(request.method, request.path, request.body or None, headers)
            answer = connection.getresponse()
            cookies = ",".join(answer.headers.get_all("Set-Cookie", []))
            ends = answer.headers.get_content_type() != "text/event-stream"
            text = answer.read(_MOST_READ).decode(errors="replace") if ends else ""
            return answer.status, text, cookies
        finally:
            connection.close()


class _Names(HTMLParser):
    """The fields of all forms of a page, and the parameters of all links to itself."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[str, None] = {}
        self.posted: dict[str, None] = {}
        self._form: dict[str, None] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "form":
            self._form = self.posted if str(told.get("method", "")).lower() == "post" else self.asked
        elif tag in {"input", "select", "textarea", "button"} and told.get("name"):
            (self.asked if self._form is None else self._form)[str(told["name"])] = None
        elif tag == "a" and str(told.get("href", "")).startswith("?"):
            query = urllib.parse.parse_qsl(str(told["href"])[1:], keep_blank_values=True)
            self.asked |= dict.fromkeys(name for name, _ in query)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None


# What a value of so many characters may be.
VALUES: Final[Mapping[str, Callable[[int], str]]] = {
    "deep": lambda size: "a/" * (size // 2),
    "as deep as may be": lambda size: ("x" * (size // 91) + "/") * 90,
    "one word": lambda size: "x" * size,
    "words": lambda size: " ".join(f"w{number}" for number in range(size // 6)),
    "terms": lambda size: " ".join(
        f"kind:{number % 9} is:{number} topic:t{number}" for number in range(size // 24)
    ),
    "patterns": lambda size: "\n".join(f"*{number}*t?*" for number in range(size // 10)),
    "one pattern": lambda size: "*a?" * (size // 3) + "b",
    "nested groups": lambda size: "(" * (size // 3) + "a+" + ")+" * (size // 3),
    "number": lambda size: "9" * size,
    "numbers": lambda size: ",".join(str(number) for number in range(size // 5)),
    "ranges": lambda size: ",".join(f"{number}-{number + 9_000}" for number in range(size // 10)),
    "far": lambda size: ("9999-12-31T23:59:59.999999+23:59" * (1 + size // 32))[:size],
    "unicode": lambda size: "\u0130\U0001f4a9\u0300\u202e"[: max(1, size)] * (size // 4),
    "zeros": lambda size: "\0" * size,
    "dots": lambda size: "../" * (size // 3),
    "markup": lambda size: "<&'\"\n" * (size // 5),
    "nested JSON": lambda size: "[" * size,
    "JSON": lambda size: json.dumps(
        {
            "version": 1,
            "partitions": [
                {"topic": "orders", "partition": number, "replicas": [1, 2]} for number in range(size // 50)
            ],
        }
    ),
    "lists": lambda size: "\n".join(f"orders-{number}: 1, 2, 3" for number in range(size // 20)),
    "options": lambda size: "\n".join(f"retention.ms{number}=1" for number in range(size // 20)),
}


def known(cluster: str) -> Mapping[str, str]:
    """What stands for each parameter of a route, of a cluster as `tests.web.test_costs` has it."""
    names = (
        "broker=1 path=brokers/ids/1 session=0x100 check=D1 table=rebalances name=orders number=1 token=none"
    )
    of_admin = "content_type_id=1 object_id=2 id=2 app_label=auth url=no/such/page/"
    return {"cluster": cluster, **dict(pair.split("=") for pair in f"{names} {of_admin}".split())}


def addresses(cluster: str) -> Iterator[tuple[str, str]]:
    """Each route with an address of it; an action's form is one of each kind."""
    for route in sorted(ROUTES, key=lambda one: one.endswith("out/")):  # who signs out is somebody else then
        kinds = sorted(forms.BY_KIND) if "<str:kind>" in route else [""]
        for kind in kinds:
            yield route.replace("<str:kind>", kind), _filled(route, {**known(cluster), "kind": kind})


def _filled(route: str, values: Mapping[str, str]) -> str:
    return "/" + _PARAMETER.sub(lambda found: values[found[2]], route)


# Made when it is asked, since most of them are only asked in a full run.
Asked = Callable[[], Request]


def of_paths(cluster: str, size: int) -> Iterator[Asked]:
    """Each parameter of each route with each value; numbers, and the cluster's name, are one of a few."""
    for route in ROUTES:
        for kind, name in _PARAMETER.findall(route):
            is_number = name == "cluster" or kind == "int"
            for what in ["number"] if is_number else VALUES:
                yield partial(_of_path, route, cluster, name, what, size)


def _of_path(route: str, cluster: str, name: str, what: str, size: int) -> Request:
    value = quote(VALUES[what](size), safe="/", errors="replace")[:_LONGEST_QUERY]
    values = {**known(cluster), "kind": "create-topic", name: value}
    return Request(route, f"<{name}> of {what}", _filled(route, values))


def of_queries(site: Site, cluster: str, size: int) -> Iterator[Asked]:
    """Each address with each value in all that its page may be asked for, and in what it may not."""
    for route, path in addresses(cluster):
        for what in (*VALUES, *_MANY):
            yield partial(_of_query, site, route, path, what, size)


def _of_query(site: Site, route: str, path: str, what: str, size: int) -> Request:
    if what in _MANY:
        query = _MANY[what](size)
    else:
        names = dict.fromkeys([*site.names(path).asked, "format", "from", "q", "sort", "page"])
        share = size // len(names)
        query = urlencode([(name, VALUES[what](share)) for name in names], errors="replace")
    return Request(route, f"?… of {what}", f"{path}?{query[:_LONGEST_QUERY]}")


def of_bodies(site: Site, cluster: str, share: float) -> Iterator[Asked]:
    """Each address that takes a body with one of all shapes, filled up to a share of what it takes."""
    for route, path in addresses(cluster):
        most = int(bodies.most("POST", path) * share)
        for what in (*VALUES, *_MANY, *_SHAPES) if most else ():
            yield partial(_of_body, site, route, path, what, most)


def _of_body(site: Site, route: str, path: str, what: str, most: int) -> Request:
    if what in _SHAPES:
        kind, make = _SHAPES[what]
        return Request(route, what, path, "POST", make(most)[:most], kind)
    if what in _MANY:
        return Request(route, what, path, "POST", _MANY[what](most).encode()[:most])
    names = [name for name in [*site.names(path).posted, "q"] if name not in {"csrfmiddlewaretoken", "do"}]
    each = [(name, VALUES[what](most // 3 // len(names))) for name in dict.fromkeys(names)]
    body = urlencode([("do", "preview"), *each], errors="replace").encode()
    return Request(route, f"fields of {what}", path, "POST", body[:most])


_MANY: Final[Mapping[str, Callable[[int], str]]] = {
    "many": lambda size: "&".join(f"p{number}=" for number in range(size // 6)),
    "the same": lambda size: "&".join(f"q=w{number}" for number in range(size // 6)),
    "ampersands": lambda size: "&" * size,
    "escapes": lambda size: "q=" + "%e2%98%83" * (size // 9),
}
_PARTS: Final = "multipart/form-data; boundary=x"
_PART: Final = b'--x\r\nContent-Disposition: form-data; name="q"\r\n\r\n\r\n'
_FILE: Final = b'--x\r\nContent-Disposition: form-data; name="upload"; filename="f"\r\n\r\n'
# Bodies of any form at all, with their type.
_SHAPES: Final[Mapping[str, tuple[str, Callable[[int], bytes]]]] = {
    "nested JSON alone": ("application/json", lambda size: b"[" * size),
    "no form": ("application/octet-stream", lambda size: b"\0" * size),
    "many parts": (_PARTS, lambda size: _PART * (size // len(_PART))),
    "a file": (_PARTS, lambda size: _FILE + b"[" * (size - len(_FILE) - 9) + b"\r\n--x--\r\n"),
    "dashes": (_PARTS, lambda size: b"--x" + b"\r\n-" * (size // 3)),
    "a part's head": (_PARTS, lambda size: _PART[:45] + b'"' * size),
}


def some(requests: Iterator[Asked], every: int) -> Iterator[Asked]:
    """Every so manieth of them, each value with each route now and then."""
    return islice(requests, 0, None, every)
