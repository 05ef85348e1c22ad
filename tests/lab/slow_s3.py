"""`python -m tests.lab.slow_s3 PORT SECONDS`: moto's server of S3's API, which answers that late."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple


def main() -> None:
    port, latency_s = int(sys.argv[1]), float(sys.argv[2])
    served = DomainDispatcherApplication(create_backend_app)

    def late(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        time.sleep(latency_s)
        answer: Iterable[bytes] = served(environ, start_response)
        return answer

    run_simple("127.0.0.1", port, late, threaded=True)


if __name__ == "__main__":
    main()
