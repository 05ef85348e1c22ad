"""Places: how many of a kind are in at once, in all, from one address and by one person.

Each request and each socket is a visit. It takes its place before anything is done for it and gives it back
when it ends, however it ends, so there is nothing between looking and taking. On the event loop only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from zkdash.configuration.limits import OF_ADDRESS, OF_PERSON, Limits
from zkdash.door.refusals import REFUSALS, Refusals

CONNECTIONS: Final = "connections"
SOCKETS: Final = "sockets"
FEEDS: Final = "feeds"
LARGE_BODIES: Final = "large_bodies"
SIGN_INS: Final = "sign_ins"
KINDS: Final = (CONNECTIONS, SOCKETS, FEEDS, LARGE_BODIES, SIGN_INS)

_SCOPE: Final = "zkdash.visit"


class Places:
    """The places of one kind."""

    def __init__(self, kind: str, limits: Limits) -> None:
        self._kind = kind
        self._most: int = getattr(limits, kind)
        self._most_of_address: int = getattr(limits, kind + OF_ADDRESS)
        self._most_of_person: int = getattr(limits, kind + OF_PERSON, self._most)
        self._taken = 0
        self._by_address: Counter[str] = Counter()
        self._by_person: Counter[int] = Counter()

    @property
    def taken(self) -> int:
        return self._taken

    def take(self, address: str | None, person: int | None) -> str:
        """Take one; the limit that stands in the way, "" for none. None is counted in all only."""
        if address is not None and self._by_address[address] >= self._most_of_address:
            return self._kind + OF_ADDRESS
        if person is not None and self._by_person[person] >= self._most_of_person:
            return self._kind + OF_PERSON
        if self._taken >= self._most:
            return self._kind
        self._taken += 1
        _add(self._by_address, address, 1)
        _add(self._by_person, person, 1)
        return ""

    def give(self, address: str | None, person: int | None) -> None:
        self._taken -= 1
        _add(self._by_address, address, -1)
        _add(self._by_person, person, -1)


class Visit:
    """One request or one socket, with the place that it has."""

    def __init__(self, places: Mapping[str, Places], address: str | None, refusals: Refusals) -> None:
        self.address = address
        self._places = places
        self._refusals = refusals
        self._at: Places | None = None
        self._person: int | None = None
        self._body = False

    def enter(self, kind: str, person: int | None = None) -> str:
        """Take a place of a kind instead of the one held; the limit that stands in the way, "" for none."""
        places, before = self._places[kind], self._person
        if self._at is places:  # the same place, by somebody who is known now
            places.give(self.address, before)
        limit = places.take(self.address, person)
        if limit:
            self.tell(limit)
            if self._at is places:
                places.take(self.address, before)
            return limit
        if self._at is not places:
            self._leave()
        self._at, self._person = places, person
        return ""

    def tell(self, limit: str) -> None:
        """It ran into a limit of another kind."""
        self._refusals.tell(limit, self.address)

    def take_body(self) -> str:
        """A place for a large body, beside the other one; as `enter`."""
        limit = "" if self._body else self._places[LARGE_BODIES].take(self.address, None)
        if limit:
            self.tell(limit)
        else:
            self._body = True
        return limit

    def give_body(self) -> None:
        if self._body:
            self._body = False
            self._places[LARGE_BODIES].give(self.address, None)

    def end(self) -> None:
        """Give everything back."""
        self.give_body()
        self._leave()

    def _leave(self) -> None:
        if self._at is not None:
            self._at.give(self.address, self._person)
            self._at = self._person = None


class Floor:
    """All places of one process."""

    def __init__(self, limits: Limits, refusals: Refusals = REFUSALS) -> None:
        self._places = {kind: Places(kind, limits) for kind in KINDS}
        self._refusals = refusals

    def visit(self, scope: dict[str, Any], address: str | None) -> Visit:
        """A new visit, which those behind the door find in the scope."""
        visit = scope[_SCOPE] = Visit(self._places, address, self._refusals)
        return visit

    def taken(self, kind: str) -> int:
        return self._places[kind].taken


def enter(scope: Mapping[str, Any], kind: str, person: int | None) -> str:
    """Have the visit of an ASGI scope take a place of a kind for a person (a user's id, None for nobody's).

    Returns the limit that stands in the way, "" for none, and where there is no door in front.
    """
    visit: Visit | None = scope.get(_SCOPE)
    return visit.enter(kind, person) if visit is not None else ""


def address(scope: Mapping[str, Any]) -> str | None:
    """The address that the visit of an ASGI scope is counted by; None for a proxy's own or without a door."""
    visit: Visit | None = scope.get(_SCOPE)
    return visit.address if visit is not None else None


def tell(scope: Mapping[str, Any], limit: str) -> None:
    """The visit of an ASGI scope ran into a limit that is kept behind the door."""
    visit: Visit | None = scope.get(_SCOPE)
    if visit is not None:
        visit.tell(limit)


def _add(counts: Counter[Any], of: Any, number: int) -> None:
    """What nobody has is forgotten."""
    if of is not None:
        counts[of] += number
        if not counts[of]:
            del counts[of]
