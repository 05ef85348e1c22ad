"""What an operator may write, and how it is read: the file of ZKDASH_CONFIG, a module a table.

Each table is a Struct whose annotations say what a key takes, in which unit and for what. What follows from
the values (sessions, sign-in, alerts, bounds) is made of these Structs in the rooms that do it.
"""

from __future__ import annotations

from zkdash.configuration.file import Configuration, read

__all__ = ["Configuration", "read"]
