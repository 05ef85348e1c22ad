"""How long a coordinator keeps what groups committed: asked of the broker itself, once a registration.

ApiVersions 0 (0.10 and later) tells of which releases it is, DescribeConfigs 0 and 1 (0.11 and 1.1, KIP-133,
KIP-226) the one key that counts, which no znode holds: offsets.retention.minutes cannot be changed while a
broker runs.
Source: kafka.server.KafkaConfig; KIP-186 (7 days instead of 1 from 2.0 on), KIP-211 (from 2.1 on counted from
when a group lost its last member, not from each commit).
"""

from __future__ import annotations

from typing import Any

from zkdash.broker import questions
from zkdash.broker.link import Link, TroubleError
from zkdash.broker.questions import ABOUT_GROUPS_MAX_BYTES, Question
from zkdash.broker.samples import Retention
from zkdash.kafka.values import Broker

KEY = "offsets.retention.minutes"
DAY, WEEK = 1_440, 10_080

_OFFSET_COMMIT, _DESCRIBE_CONFIGS = 8, 32  # API keys
_SINCE_20, _SINCE_21 = 4, 5  # OffsetCommit's newest version: of KIP-219, of KIP-211
_BROKER = 4  # org.apache.kafka.common.config.ConfigResource.Type
_DEFAULT = 5  # org.apache.kafka.clients.admin.ConfigEntry.ConfigSource.DEFAULT_CONFIG
_TELLS_VERSIONS = 3  # the registration of 0.10.0


def of_registration(version: int | None, reason: str) -> Retention:
    """What the version of a registration tells; of some, a broker of 0.9 may be as well as one of 3.9."""
    if version in {1, 3}:  # 0.8, and 0.10.0 and 0.10.1
        return Retention(DAY, by_group=False, reason=reason)
    if version == 5:  # 2.7 and later
        return Retention(WEEK, by_group=True, reason=reason)
    return Retention(None, by_group=None, reason=reason)


async def ask(link: Link, broker: Broker) -> Retention:
    """Ask a broker. What it does not answer is no trouble of it: it answers what else it is asked."""
    if (broker.version or 0) < _TELLS_VERSIONS:
        return of_registration(broker.version, "brokers before 0.11 do not tell their configuration")
    try:
        newest = questions.read_versions(await link.ask(questions.versions()))
    except TroubleError as error:
        return of_registration(broker.version, str(error))
    commit = newest.get(_OFFSET_COMMIT, 0)
    default = WEEK if commit >= _SINCE_20 else DAY
    by_group = commit >= _SINCE_21
    if _DESCRIBE_CONFIGS not in newest:
        return Retention(default, by_group, reason="brokers before 0.11 do not tell their configuration")
    version = min(newest[_DESCRIBE_CONFIGS], 1)  # brokers of 2.x answer version 0 without what is default
    try:
        answer = read_minutes(await link.ask(configuration(broker.id, version)), version)
    except TroubleError as error:
        answer = str(error)
    if isinstance(answer, str):
        return Retention(default, by_group, reason=f"broker {broker.id}: {answer}")
    minutes, is_default = answer
    return Retention(minutes, by_group, is_default)


def configuration(broker: int, version: int) -> Question:
    """Ask a broker for the one key of its configuration, by version 0 or 1 of the question."""
    schemas = questions.client_classes()
    resource = schemas.DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=_BROKER, resource_name=str(broker), configuration_keys=[KEY]
    )
    request = schemas.DescribeConfigsRequest(resources=[resource])
    return Question(request, version, schemas.DescribeConfigsResponse, ABOUT_GROUPS_MAX_BYTES)


def read_minutes(answer: Any, version: int) -> tuple[int, bool] | str:
    """The minutes, and whether they are the default; or why they are not to be had."""
    for result in answer.results or ():
        if result.error_code:
            return questions.words(result.error_code)
        for entry in result.configs or ():
            if entry.name == KEY and (entry.value or "").isdecimal() and len(entry.value) <= _MOST_DIGITS:
                return int(entry.value), entry.config_source == _DEFAULT if version else bool(
                    entry.is_default
                )
    return f"its answer does not hold {KEY}"


_MOST_DIGITS = 10  # of an int
