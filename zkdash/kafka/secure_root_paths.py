"""The znodes whose ACLs decide whether a cluster is secured: where Kafka creates all others.

Those of kafka.zk.ZkData.SecureRootPaths and of its ACL stores, and the directories below them that Kafka
makes once. KIP-38 tells which ACLs zookeeper.set.acl gives them.
"""

from __future__ import annotations

from typing import Final

PATHS: Final = (
    "/admin",
    "/admin/delete_topics",
    "/brokers",
    "/brokers/ids",
    "/brokers/seqid",
    "/brokers/topics",
    "/cluster",
    "/cluster/id",
    "/config",
    "/config/brokers",
    "/config/changes",
    "/config/clients",
    "/config/ips",
    "/config/topics",
    "/config/users",
    "/consumers",
    "/controller",
    "/controller_epoch",
    "/delegation_token",
    "/delegation_token/tokens",
    "/feature",
    "/isr_change_notification",
    "/kafka-acl",
    "/kafka-acl-changes",
    "/kafka-acl-extended",
    "/kafka-acl-extended-changes",
    "/latest_producer_id_block",
    "/log_dir_event_notification",
    "/migration",
)
