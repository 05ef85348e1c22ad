"""zkdash's side of latency: one socket on the Topics page, that notes when it heard of which transaction.

Told `until`, a zxid, it listens until it has heard of that, and tells what it heard: (zxid, epoch second) of
every frame.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from bench import side
from tests import folding

_PATH = "/c/default/topics/"


def main(origin: str) -> None:
    page = folding.Folded(folding.fetch(origin, _PATH))
    heard: list[tuple[int, float]] = []
    more = threading.Condition()
    address = f"ws://{urlsplit(origin).netloc}{page.address}"
    with connect(address, origin=Origin(origin), max_size=None) as connection:
        threading.Thread(target=_listen, args=(connection, heard, more), daemon=True).start()
        side.say(open=True)
        if told := side.hear():
            with more:
                more.wait_for(lambda: heard and heard[-1][0] >= told["until"])
            side.say(heard=heard)


def _listen(connection: ClientConnection, heard: list[tuple[int, float]], more: threading.Condition) -> None:
    try:
        for text in connection:
            at = time.time()
            with more:
                heard.append((json.loads(str(text).partition("\n")[0])["zxid"], at))
                more.notify()
    except ConnectionClosed:
        return


if __name__ == "__main__":
    main(sys.argv[1])
