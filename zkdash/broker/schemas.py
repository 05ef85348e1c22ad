"""What `questions` takes of the Kafka client: its schemas and its names of errors.

The client imports all of itself with any part: this module is imported with the first question.
"""

from __future__ import annotations

from kafka import errors
from kafka.protocol.admin import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kafka.protocol.consumer import (
    ConsumerProtocolAssignment,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse

__all__ = [
    "ApiVersionsRequest",
    "ApiVersionsResponse",
    "ConsumerProtocolAssignment",
    "DescribeConfigsRequest",
    "DescribeConfigsResponse",
    "DescribeGroupsRequest",
    "DescribeGroupsResponse",
    "DescribeLogDirsRequest",
    "DescribeLogDirsResponse",
    "ListGroupsRequest",
    "ListGroupsResponse",
    "ListOffsetsRequest",
    "ListOffsetsResponse",
    "OffsetFetchRequest",
    "OffsetFetchResponse",
    "errors",
]
