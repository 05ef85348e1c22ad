"""/cluster/id. Source: kafka.zk.ClusterIdZNode, 0.10.1 to 3.9. Its version is text, unlike all others."""

from __future__ import annotations

from zkdash.kafka.documents import document
from zkdash.kafka.documents.document import Fields, Parsed, quote
from zkdash.kafka.values import ClusterId, Unparsable


def parse_cluster_id(data: bytes | None) -> Parsed[ClusterId]:
    found = document.decode(data, "a cluster id")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    version = found.get("version", "1")
    if not isinstance(version, str):
        fields.version(1)
    elif version != "1":
        fields.note(f"version {quote(version)} is not known (1 is)")
    cluster_id = fields.text("id")
    return fields.unparsable() if cluster_id is None else (ClusterId(cluster_id), tuple(fields.reasons))
