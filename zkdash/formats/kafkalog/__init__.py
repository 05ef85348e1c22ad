"""Kafka's log segments, from 0.7 to 3.9, and the files beside them.

`oldest` reads 0.7's files, `segment` all later ones (message formats v0, v1 and v2). Sources are the classes
kafka.message.Message (0.7, 0.8), org.apache.kafka.common.record and KIP-98 for v2.
"""
