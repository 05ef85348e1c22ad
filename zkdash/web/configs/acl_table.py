"""Columns of ACLs and of delegation tokens."""

from __future__ import annotations

from collections.abc import Callable

from zkdash.cluster.tables.acl_rows import AclRow, TokenRow
from zkdash.kafka.values import AclEntry, Token
from zkdash.web.configs import entity_cells
from zkdash.web.frame import cells
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.tables import Column

TokenEntry = tuple[str, TokenRow]  # the cluster's name, and the token


def of_entry(row: AclRow, said: Callable[[AclEntry], str]) -> Cell:
    """A cell of what the entry says."""
    return cells.known(row.entry, lambda entry: cells.Text(said(entry)), "")


def _of_token(row: TokenRow, cell: Callable[[Token], Cell]) -> Cell:
    return cells.known(row.token, cell, "")


ENTRY: tuple[Column[AclRow], ...] = (
    Column("principal", "Principal", lambda row: of_entry(row, lambda entry: entry.principal)),
    Column("permission_type", "Permission", lambda row: of_entry(row, lambda entry: entry.permission_type)),
    Column("operation", "Operation", lambda row: of_entry(row, lambda entry: entry.operation)),
    Column("host", "Host", lambda row: of_entry(row, lambda entry: entry.host)),
)
TOKENS: tuple[Column[TokenEntry], ...] = (
    Column("id", "Token", lambda entry: entity_cells.Entity(entry[1].id), is_sortable=False),
    Column(
        "issued",
        "Issued",
        lambda entry: _of_token(entry[1], lambda token: cells.Moment(token.issue_timestamp)),
        is_sortable=False,
    ),
    Column(
        "expires",
        "Holds until",
        lambda entry: _of_token(entry[1], lambda token: entity_cells.End(token.expiry_timestamp)),
        is_sortable=False,
    ),
    Column(
        "renewable_until",
        "Renewable until",
        lambda entry: _of_token(entry[1], lambda token: entity_cells.End(token.max_timestamp)),
        is_sortable=False,
    ),
    Column("path", "Path", lambda entry: cells.Path(entry[1].path, cluster=entry[0]), is_sortable=False),
)
