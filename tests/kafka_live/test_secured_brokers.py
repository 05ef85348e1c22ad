"""A real broker that wants TLS and SASL: log ends, lag, messages, and what it says to strangers."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

import msgspec
import pytest
from kafka import KafkaProducer

from tests.kafka_live.sampling import PACE
from tests.kafka_live.secured import PASSWORD, USER, Secured, secured
from tests.lab import tools
from tests.waiting import wait_for
from tests.zk.certificates import Authority
from zkdash.broker import offsets_at
from zkdash.broker.leaders_asked import Reason
from zkdash.broker.messages import asking
from zkdash.broker.messages.values import Bounds, Data, From, Last, Look
from zkdash.broker.offsets_at import LATEST, At
from zkdash.broker.sampler import Sampler
from zkdash.broker.samples import GroupCommits, LogEnds
from zkdash.broker.security import sasl
from zkdash.configuration.brokers import Security
from zkdash.demo.zookeeper.server import Server

pytestmark = [pytest.mark.kafka, pytest.mark.zk]

COUNT = 7
TOPIC, GROUP = "sealed-topic", "sealed-group"
LEADERS: Mapping[str, Mapping[int, int | None]] = {
    TOPIC: {0: 1},
    "__consumer_offsets": dict.fromkeys(range(4), 1),
}
WAYS = [
    ("PLAINTEXT", ""),
    ("SSL", ""),
    ("SASL_PLAINTEXT", "PLAIN"),
    ("SASL_PLAINTEXT", "SCRAM-SHA-256"),
    ("SASL_SSL", "SCRAM-SHA-512"),
    ("SASL_SSL", "OAUTHBEARER"),
]


@pytest.fixture(scope="module")
def site(zookeeper: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured(zookeeper.address, tmp_path_factory.mktemp("secured")) as site:
        site.broker.create_topic(TOPIC)
        tools.produce(site.broker, TOPIC, COUNT)
        tools.consume(site.broker, tools.NEW, GROUP, TOPIC, COUNT - 2)
        yield site


def way(site: Secured, protocol: str, mechanism: str = "") -> Security:
    security = site.security(protocol, mechanism)
    if protocol != "SSL":
        return security
    mine = site.authority.issue("zkdash")  # the listener wants a certificate
    over = msgspec.structs.replace(site.tls, cert=str(mine.cert), key=str(mine.key))
    return msgspec.structs.replace(security, tls=over)


def end(site: Secured, security: Security) -> object:
    asked = offsets_at.ask({1: site.registration}, LEADERS.get, [(TOPIC, 0)], LATEST, security=security)
    return asked[TOPIC, 0]


def why(site: Secured, security: Security) -> str:
    told = end(site, security)
    assert isinstance(told, Reason), told
    return told.sentence


@pytest.mark.parametrize(("protocol", "mechanism"), WAYS)
def test_each_way_leads_to_the_same_log(site: Secured, protocol: str, mechanism: str) -> None:
    security = way(site, protocol, mechanism)
    assert end(site, security) == At(COUNT)
    found = asking.ask(
        {1: site.registration},
        LEADERS.get,
        (TOPIC, 0),
        Last(),
        Bounds(50, 1 << 20, 20.0),
        passes=lambda *_: True,
        keeps=True,
        security=security,
    )
    assert isinstance(found, Look), found
    values = [message.value.kept for message in found.messages if message.value]
    assert values == [b"message %d" % number for number in range(COUNT)]


def test_log_ends_and_lag_are_sampled_over_tls_and_scram(site: Secured) -> None:
    security = way(site, "SASL_SSL", "SCRAM-SHA-512")
    sampler = Sampler("secured", on_change=lambda _: None, pace=PACE, security=security)
    sampler.update({1: site.registration}, LEADERS.get, list(LEADERS))
    sampler.start()

    def sampled() -> tuple[LogEnds, GroupCommits] | None:
        sampler.want([TOPIC], {GROUP: [TOPIC]})
        log, commits = sampler.samples.log(TOPIC, 0), sampler.samples.committed(GROUP)
        return (log, commits) if isinstance(log, LogEnds) and isinstance(commits, GroupCommits) else None

    try:
        log, commits = wait_for(sampled, 60.0, lambda: sampler.samples)
    finally:
        sampler.stop()
    assert (log.start, log.end) == (0, COUNT)
    assert commits.commits[TOPIC, 0].offset == COUNT - 2
    assert sampler.samples.lag(TOPIC, 0, commits.commits[TOPIC, 0].offset) == 2


def test_transactions_and_headers_are_told_as_the_broker_keeps_them(site: Secured) -> None:
    topic = "transactional"
    site.broker.create_topic(topic)
    producer = KafkaProducer(
        bootstrap_servers=site.broker.address, transactional_id="writes", acks="all", compression_type="zstd"
    )
    try:
        producer.init_transactions()
        for value, ends in (
            (b"kept", producer.commit_transaction),
            (b"taken back", producer.abort_transaction),
        ):
            producer.begin_transaction()
            producer.send(topic, value, key=b"k", headers=[("trace", b"t0")])
            producer.flush()
            ends()
        producer.begin_transaction()
        producer.send(topic, b"undecided")
        producer.flush()
        leaders: Mapping[str, Mapping[int, int | None]] = {topic: {0: 1}}
        found = asking.ask(
            {1: site.registration},
            leaders.get,
            (topic, 0),
            From(0),
            Bounds(50, 1 << 20, 20.0),
            passes=lambda *_: True,
            keeps=True,
            security=way(site, "SASL_SSL", "SCRAM-SHA-512"),
        )
    finally:
        producer.close()
    assert isinstance(found, Look), found
    told = [(m.value and m.value.kept, m.fate, m.marker) for m in found.messages if not m.marker]
    assert told == [(b"kept", "committed", ""), (b"taken back", "aborted", ""), (b"undecided", "open", "")]
    assert [m.marker for m in found.messages if m.marker] == ["commit", "abort"]
    assert found.messages[0].headers == (("trace", Data(2, b"t0")),)
    assert found.messages[0].batch.producer_id >= 0


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_tokens_go_bare_where_a_broker_has_no_frames_for_them(
    site: Secured, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sasl, "HANDSHAKE", -1)  # as if it had version 0 of the handshake only, which it takes
    assert end(site, way(site, "SASL_PLAINTEXT", mechanism)) == At(COUNT)
    wrong = site.security("SASL_PLAINTEXT", mechanism, password="wrong")
    assert why(site, wrong).endswith(f"closed the connection while we authenticated by {mechanism}")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_wrong_password_is_told_with_the_user_and_without_a_password(
    site: Secured, mechanism: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    sentence = why(site, site.security("SASL_PLAINTEXT", mechanism, password="wrong-93b1"))
    assert f"it does not accept {USER} by {mechanism}: Authentication failed" in sentence
    for secret in ("wrong-93b1", PASSWORD):
        assert secret not in sentence + caplog.text


def test_a_mechanism_that_it_does_not_take_is_told_with_those_that_it_does(site: Secured) -> None:
    sentence = why(
        site, msgspec.structs.replace(site.security("SASL_PLAINTEXT", "PLAIN"), mechanism="GSSAPI")
    )
    assert "it does not take GSSAPI, but" in sentence
    assert "SCRAM-SHA-512" in sentence


def test_whose_certificate_is_not_signed_is_not_believed(site: Secured) -> None:
    other = Authority(site.directory / "other", "other")
    security = msgspec.structs.replace(
        site.security("SASL_SSL", "PLAIN"), tls=type(site.tls)(ca=str(other.ca))
    )
    sentence = why(site, security)
    assert "the certificate of 127.0.0.1:" in sentence
    assert "is not accepted" in sentence


def test_a_listener_that_wants_a_certificate_says_so(site: Secured) -> None:
    sentence = why(site, site.security("SSL"))
    assert "certificate" in sentence or "closed the connection" in sentence, sentence


def test_the_wrong_protocol_is_no_endless_wait(site: Secured) -> None:
    """TLS to a listener that speaks none, and the other way round."""
    swapped = msgspec.structs.replace(
        site.registration, listener_security_protocol_map={"INSIDE": "SASL_SSL", "OUTSIDE": "PLAINTEXT"}
    )
    for security in (site.security("SASL_SSL", "PLAIN"), Security()):
        asked = offsets_at.ask({1: swapped}, LEADERS.get, [(TOPIC, 0)], LATEST, security=security)
        told = asked[TOPIC, 0]
        assert isinstance(told, Reason)
        assert told.sentence.startswith("cannot ask broker 1: ")
