"""With what a connection came, as text that names it in memory: a session's key, or a digest of a token."""

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
    """The holder of who shows a token, whatever that is worth."""
    return _TOKEN + tokens.digest(text)


def of_embed(token: str) -> str:
    """The holder of what is shown by the link of an embed, whatever that is worth."""
    return _EMBED + embeds.digest(token)


def read(holders: Collection[str], *, anonymous_reads: bool) -> Mapping[str, Rights]:
    """The rights of each holder now, a handful of queries for all of them.

    Of a session that ended they are those of who is not signed in, of a token that ended none at all: who
    shows one means to be somebody. An embed's are a viewer's, of its cluster alone.
    """
    shown = {one for one in holders if one.startswith(_TOKEN)}
    framed = {one for one in holders if one.startswith(_EMBED)}
    found = dict(sessions.read(set(holders) - shown - framed, anonymous_reads=anonymous_reads))
    if framed:
        links = {one.removeprefix(_EMBED) for one in framed}
        kept = embeds.rights_of(links, anonymous_reads=anonymous_reads)
        found |= {one: kept[one.removeprefix(_EMBED)] for one in framed}
    if shown:
        worth = tokens.read({one.removeprefix(_TOKEN) for one in shown}, anonymous_reads=anonymous_reads)
        found |= {one: worth.get(one.removeprefix(_TOKEN), _NOTHING) for one in shown}
    return found


def known(holders: Collection[str], *, anonymous_reads: bool) -> Mapping[str, Rights | None]:
    """As `read`; where the database does not tell, what it told last. None is whom it told nothing of lately.

    Never waits for a database that was away a moment ago, unless somebody would be None.
    """
    found = recalled(holders, anonymous_reads=anonymous_reads)
    if not MEMORY.may_ask() and None not in found.values():
        return found
    try:
        told = read(holders, anonymous_reads=anonymous_reads)
    except db.Error as error:
        if not databases.is_away(error):
            raise
        MEMORY.failed(error)
        return recalled(holders, anonymous_reads=anonymous_reads)
    MEMORY.answered()
    for holder, held in told.items():
        remember(holder, held)
    return told


def recalled(holders: Collection[str], *, anonymous_reads: bool) -> Mapping[str, Rights | None]:
    """What the database told last of each, without asking it. None is whom it told nothing of lately.

    Who is not remembered may do what anybody may.
    """
    found: dict[str, Rights | None] = {}
    for holder in holders:
        is_session = not holder.startswith((_TOKEN, _EMBED))
        found[holder] = MEMORY.recall(holder)
        if found[holder] is None and (not holder or (is_session and anonymous_reads)):
            found[holder] = rights.anonymous(anonymous_reads=anonymous_reads)
    return found


def remember(holder: str, held: Rights) -> None:
    """The database has just told this of a holder."""
    if held.grants or held.is_signed_in:
        MEMORY.keep(holder, held)
    else:
        MEMORY.forget(holder)
