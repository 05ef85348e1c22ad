"""How fast a page shows what happened, by the browser's own clock: a test looks too seldom to tell."""

from __future__ import annotations

import time
from typing import Any

LOADS = 5

# A page may not make code of texts: the condition is part of what the debugger evaluates.
_LISTEN = """() => {
  window.held = null;
  window.listener?.disconnect();
  const look = () => { window.held ??= (%s) ? Date.now() : null; };
  window.listener = new MutationObserver(look);
  window.listener.observe(document, { subtree: true, childList: true, attributes: true });
}"""


def listen(page: Any, condition: str) -> None:
    """From now on the page (or frame) notes when a JavaScript condition, false now, first holds."""
    assert page.evaluate(condition) is False, condition
    page.evaluate(_LISTEN % condition)


def heard_s(page: Any, since: float) -> float:
    """Seconds from `since`, as `time.time()` told it, until the condition held; waits for it."""
    page.wait_for_function("() => window.held")
    return float(page.evaluate("window.held")) / 1000 - since


def allowed_s(promised_s: float, page: Any) -> float:
    """The seconds of a promise; on a machine that is slow now, those of loading this page anew LOADS times.

    Loading takes the same processes, and nothing of what pushes changes.
    """
    other = page.context.new_page()
    began = time.monotonic()
    other.goto(page.url)
    took = time.monotonic() - began
    other.close()
    return max(promised_s, LOADS * took)
