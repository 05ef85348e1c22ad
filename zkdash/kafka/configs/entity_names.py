"""What a path below /config means in words: whose configuration it is.

Source: kafka.server.ConfigEntityName and org.apache.kafka.common.utils.Sanitizer (users and clients are
URL-encoded from 0.10.1 on; 0.9 and 0.10.0 wrote client ids as they are).
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import unquote

from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import Kind

TOPIC: Final = "topic"
USER: Final = "user"
CLIENT: Final = "client"
USER_CLIENT: Final = "client of a user"
BROKER: Final = "broker"
ADDRESS: Final = "address"
_NOUNS: Final = {
    Kind.TOPIC_CONFIG: TOPIC,
    Kind.USER_CONFIG: USER,
    Kind.CLIENT_CONFIG: CLIENT,
    Kind.USER_CLIENT_CONFIG: USER_CLIENT,
    Kind.BROKER_CONFIG: BROKER,
    Kind.IP_CONFIG: ADDRESS,
}
_DEFAULTS: Final = {
    USER: "every other user",
    CLIENT: "every other client",
    BROKER: "every broker",
    ADDRESS: "every other address",
}


class Entity(NamedTuple):
    """`noun` is one of those above, "" where the kind of the path is unknown; `name` is for people."""

    noun: str
    name: str

    @property
    def words(self) -> str:
        """Both, where the name does not say by itself what it names."""
        return self.name if self.name == _DEFAULTS.get(self.noun) else f"{self.noun} {self.name}".lstrip()


def of(path: str) -> Entity:
    """The entity of a path below /config ("users/alice%40EX"), as /config/changes names it, too."""
    place = paths.locate(f"/config/{path}")
    noun = _NOUNS.get(place.kind, "")
    if not noun:
        return Entity("", path)
    if noun == USER_CLIENT:
        return Entity(noun, f"{_worded(USER, place.name)}, {_worded(CLIENT, place.key)}")
    return Entity(noun, _worded(noun, place.name))


def _worded(noun: str, name: str) -> str:
    if name == paths.DEFAULT and noun in _DEFAULTS:
        return _DEFAULTS[noun]
    return _decoded(name) if noun in (USER, CLIENT) else name


def _decoded(name: str) -> str:
    """A name that was not encoded, or badly, is shown as it is."""
    try:
        return unquote(name, errors="strict")
    except UnicodeDecodeError:
        return name
