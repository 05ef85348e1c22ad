"""The handler of the process that tells the past: one request at a time, from the snapshot of its moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from zkdash import live
from zkdash.history.queries.moment import MomentError
from zkdash.history.store.delta import TableError
from zkdash.history.store.tables import QueryError
from zkdash.live.past import comparing
from zkdash.live.past.reel import AsItWas
from zkdash.live.past.reels import Reels
from zkdash.live.tree.znodes import Stats, Znodes
from zkdash.web.frame import answers
from zkdash.web.past import bar, handlers, link_rewriting
from zkdash.web.past.asked import At
from zkdash.zk.config import named
from zkdash.zk.reader.znode_reader import Visit, VisitError

_ORDER: Final = "The moment of from= is later than that of at=: what changed is told forward."
_NOT_KNOWN: Final = "It is not known of the past: only what was recorded then is."


class ExhaustedError(BaseException):
    """There was not enough memory: no answer of this process is to be trusted any more."""


class ReplayingHandler:
    """See the module. Pages find the moment where they find the newest snapshot elsewhere."""

    def __init__(self, reels: Reels) -> None:
        self._reels = reels

    def answer(
        self, request: HttpRequest, cluster: str, at: At, show: Callable[[], HttpResponse]
    ) -> HttpResponse:
        try:
            was = self._at(cluster, at)
            if at.since is not None:
                since = at.since
                was = self._reels.since(was, cluster, time_ms=since.time_ms, zxid=since.zxid)
            return link_rewriting.kept(_shown(cluster, was, show), cluster, at)
        except comparing.OrderError:
            ways = bar.the_other_way_round(request.GET)
            return answers.problem(request, 400, "The wrong way round", _ORDER, ways)
        except MomentError as error:
            ways = bar.elsewhere(request.path, request.GET, error.near_ms)
            sentence = f"What was then cannot be told: {error}."
            return answers.problem(request, 404, "Not recorded", sentence, ways)
        except (TableError, QueryError) as error:
            return handlers.away(request, f"What was recorded cannot be read: {error}.")
        except MemoryError as error:
            raise ExhaustedError from error

    def _at(self, cluster: str, at: At) -> AsItWas:
        return self._reels.at(
            cluster,
            _address(cluster),
            time_ms=at.time_ms,
            zxid=at.zxid,
            width=at.width,
            below=at.below,
        )


def _shown(cluster: str, was: AsItWas, show: Callable[[], HttpResponse]) -> HttpResponse:
    znodes = Znodes(lambda: was.znodes, NowAlone())
    live.publish(cluster, was.snapshot)
    live.lend(cluster, znodes)
    try:
        return show()
    finally:
        live.clear()
        znodes.close()


def _address(cluster: str) -> str:
    config = named(settings.ZKDASH_CLUSTERS, cluster)
    return "" if config is None else config.address


class NowAlone:
    """ZooKeeper tells of now alone."""

    def read(self, path: str, *, whole: bool, before: Visit | None) -> Visit:  # noqa: ARG002 - as a reader
        raise VisitError(_NOT_KNOWN)

    def stats(self, paths: Sequence[str]) -> Stats:  # noqa: ARG002 - as a reader
        raise VisitError(_NOT_KNOWN)
