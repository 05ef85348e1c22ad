"""/kafka-acl and /kafka-acl-extended: who may do what with one resource.

Source: kafka.security.authorizer.AclEntry and kafka.zk.ResourceZNode, version 1 since 0.9; prefixed patterns
from 2.0 (KIP-290).
"""

from __future__ import annotations

from zkdash.kafka.documents import entries
from zkdash.kafka.documents.document import Fields, Parsed
from zkdash.kafka.values import AclEntry, ResourceAcl, Unparsable


def parse_acl(data: bytes | None) -> Parsed[ResourceAcl]:
    """The entries. A wrong one is noted and left out; null data holds none, as it does to the authorizer."""
    if not data:
        return ResourceAcl(()), ()
    found, reasons = entries.parse_entries(data, "an ACL", "acls", _entry)
    return (found if isinstance(found, Unparsable) else ResourceAcl(found)), reasons


def _entry(fields: Fields) -> AclEntry | None:
    principal, permission = fields.text("principal"), fields.text("permissionType")
    operation, host = fields.text("operation"), fields.text("host")
    if principal is None or permission is None or operation is None or host is None:
        return None
    return AclEntry(principal, permission, operation, host)
