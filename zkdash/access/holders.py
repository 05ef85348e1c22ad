"""Holders: what identifies a connection in memory: a session's key, or the digest of a token or link."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django import db

from zkdash import databases
from zkdash.access import embeds, rights, sessions, tokens
from zkdash.access.remembered import MEMORY
from zkdash.access.rights import Rights

_TOKEN = "token:"  # noqa: S105 - no session's key holds a colon
_EMBED = "embed:"
_NOTHING = Rights()


def of_token(text: str) -> str:
    """The holder that a token makes, valid or not."""
    return _TOKEN + tokens.digest(text)


def of_embed(token: str) -> str:
    """The holder of what is shown by the link of an embed, whatever that is worth."""
    return _EMBED + embeds.digest(token)


def read(holders: Collection[str], *, anonymous_reads: bool) -> Mapping[str, Rights]:
    """The rights of each holder now, a handful of queries for all of them.

    Of a session that ended they are those of who is not signed in, of a token that ended none at all: who
    shows one means to be somebody. An embed's are a viewer's, of its cluster alone.
    """
    shown = {holder for holder in holders if holder.startswith(_TOKEN)}
    framed = {holder for holder in holders if holder.startswith(_EMBED)}
    rights_by_holder = dict(sessions.read(set(holders) - shown - framed, anonymous_reads=anonymous_reads))
    if framed:
        links = {holder.removeprefix(_EMBED) for holder in framed}
        kept = embeds.rights_of(links, anonymous_reads=anonymous_reads)
        rights_by_holder |= {holder: kept[holder.removeprefix(_EMBED)] for holder in framed}
    if shown:
        worth = tokens.read(
            {holder.removeprefix(_TOKEN) for holder in shown}, anonymous_reads=anonymous_reads
        )
        rights_by_holder |= {holder: worth.get(holder.removeprefix(_TOKEN), _NOTHING) for holder in shown}
    return rights_by_holder


def known(holders: Collection[str], *, anonymous_reads: bool) -> Mapping[str, Rights | None]:
    """As `read`; while the database is away, rights as last read; None where none were lately.

    Never waits for a database that was away a moment ago, unless somebody would be None.
    """
    remembered = recalled(holders, anonymous_reads=anonymous_reads)
    if not MEMORY.may_ask() and None not in remembered.values():
        return remembered
    try:
        fresh = read(holders, anonymous_reads=anonymous_reads)
    except db.Error as error:
        if not databases.is_away(error):
            raise
        MEMORY.failed(error)
        return recalled(holders, anonymous_reads=anonymous_reads)
    MEMORY.answered()
    for holder, holder_rights in fresh.items():
        remember(holder, holder_rights)
    return fresh


def recalled(holders: Collection[str], *, anonymous_reads: bool) -> Mapping[str, Rights | None]:
    """The rights of each as they were last read, without a query. None where none were read lately.

    Who is not remembered may do what anybody may.
    """
    remembered: dict[str, Rights | None] = {}
    for holder in holders:
        is_session = not holder.startswith((_TOKEN, _EMBED))
        remembered[holder] = MEMORY.recall(holder)
        if remembered[holder] is None and (not holder or (is_session and anonymous_reads)):
            remembered[holder] = rights.anonymous(anonymous_reads=anonymous_reads)
    return remembered


def remember(holder: str, holder_rights: Rights) -> None:
    """Keep what was just read of a holder."""
    if holder_rights.grants or holder_rights.is_signed_in:
        MEMORY.keep(holder, holder_rights)
    else:
        MEMORY.forget(holder)
