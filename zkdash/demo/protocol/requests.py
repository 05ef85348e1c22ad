"""Requests of Kafka's protocol, read by kafka-python's schemas, and mistrusted. Pure.

The schemas take texts that are cut short, unknown negative lengths and bytes after the end, and null where it
is not allowed. So what they read is encoded again and compared, and searched for null.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from kafka.protocol.admin import DescribeGroupsRequest, DescribeLogDirsRequest, ListGroupsRequest
from kafka.protocol.consumer import ListOffsetsRequest, OffsetFetchRequest

_ANSWERED: Final = {
    (ListOffsetsRequest.API_KEY, 0): ListOffsetsRequest,
    (ListOffsetsRequest.API_KEY, 1): ListOffsetsRequest,
    (OffsetFetchRequest.API_KEY, 1): OffsetFetchRequest,
    (OffsetFetchRequest.API_KEY, 2): OffsetFetchRequest,
    (ListGroupsRequest.API_KEY, 0): ListGroupsRequest,
    (DescribeGroupsRequest.API_KEY, 0): DescribeGroupsRequest,
    (DescribeLogDirsRequest.API_KEY, 0): DescribeLogDirsRequest,
}
_API = struct.Struct("!hh")


class RefusedRequestError(ValueError):
    """The request is one that this broker does not answer; the message says why."""


def decode(data: bytes) -> Any:
    """The request, an instance of one of the classes above, with its header. Raises RefusedRequestError."""
    if len(data) < _API.size:
        raise RefusedRequestError("the request ends early")
    key, version = _API.unpack_from(data)
    schema = _ANSWERED.get((key, version))
    if schema is None:
        raise RefusedRequestError(f"version {version} of API {key} is not answered here")
    try:
        request = schema.decode(data, version=version, header=True)
        is_exact = request.encode(version=version, header=True) == data
    except (struct.error, ValueError) as error:
        raise RefusedRequestError(f"the request cannot be read: {error}") from error
    fields = request.to_dict()
    if schema is OffsetFetchRequest and version == 2 and fields["topics"] is None:
        del fields["topics"]  # null asks for all of them
    if not is_exact or _holds_null(fields):
        raise RefusedRequestError("the request is malformed")
    return request


def _holds_null(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_null, value.values()))
    return any(map(_holds_null, value)) if isinstance(value, list) else value is None
