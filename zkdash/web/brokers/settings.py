"""What a broker was told while it runs: its own settings, and those of every broker."""

from __future__ import annotations

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables import config_rows
from zkdash.cluster.tables.config_rows import Setting
from zkdash.kafka import secrets
from zkdash.live.parts import Block
from zkdash.web.configs import entity_cells
from zkdash.web.frame.cells import Record


class Values(msgspec.Struct, frozen=True):
    """What the template draws; `doubts` are sentences about what can't be read."""

    settings: tuple[Setting, ...] = ()
    doubts: tuple[str, ...] = ()
    hidden: str = secrets.HIDDEN
    withheld: str = entity_cells.WITHHELD


def block(state: ClusterState, number: int) -> Block:
    """The live part; empty for what is no broker (-1)."""
    values = Values(*config_rows.of_broker(state, number)) if number >= 0 else Values()
    return Block(id="dynamic", template="brokers/settings.html", values=values)


def record(state: ClusterState, number: int) -> Record:
    """What JSON says of them; a hidden value is null, with its reason."""
    settings, doubts = config_rows.of_broker(state, number)
    return {"config": [_setting(setting) for setting in settings], "config_doubts": list(doubts)}


def _setting(setting: Setting) -> Record:
    record: Record = {"name": setting.name, "value": setting.value, "every_broker": setting.everywhere}
    if setting.value == secrets.HIDDEN:
        record |= {"value": None, "value_reason": entity_cells.WITHHELD}
    return record
