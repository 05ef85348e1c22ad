"""With what a connection came, as text that names it in memory: a session's key, or a digest of a token."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from zkdash.access import embeds, sessions, tokens
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
