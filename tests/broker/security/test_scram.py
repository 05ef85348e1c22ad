"""SCRAM as RFC 7677 tells it; what real brokers take is in tests/kafka_live/test_secured_brokers.py."""

from __future__ import annotations

import pytest

from zkdash.broker.security import scram
from zkdash.broker.security.scram import Exchange, RefusedError

# The example of RFC 7677, section 3.
NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def exchange() -> Exchange:
    return Exchange("SCRAM-SHA-256", "user", "pencil", NONCE)


def test_the_example_of_the_rfc() -> None:
    ours = exchange()
    assert ours.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert ours.final(SERVER_FIRST) == CLIENT_FINAL
    ours.verify(SERVER_FINAL)


def test_a_name_may_hold_what_separates_and_a_nonce_comes_once() -> None:
    first = Exchange("SCRAM-SHA-512", "a=b,c", "x").first()
    assert first.startswith(b"n,,n=a=3Db=2Cc,r=")
    assert first != Exchange("SCRAM-SHA-512", "a=b,c", "x").first()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "no message of SCRAM"),
        (b"\xff\xfe", "no message of SCRAM"),
        (b"m=ext,r=x,s=AAAA,i=4096", "no message of SCRAM"),
        (SERVER_FIRST.replace(b"rOpr", b"other"), "answers another exchange"),
        (b"r=rOprNGfwEbeRWgbNEkqO,s=AAAA,i=4096", "answers another exchange"),
        (
            SERVER_FIRST.replace(b"i=4096", b"i=1"),
            "asks for 1 iterations of SCRAM, where 4096 to 163840 are done",
        ),
        (SERVER_FIRST.replace(b"i=4096", b"i=9999999999"), "asks for 9999999999 iterations"),
        (SERVER_FIRST.replace(b"gQ==", b"gQ=a"), "no message of SCRAM"),
    ],
)
def test_an_answer_that_is_none_is_refused_before_anything_is_computed(answer: bytes, reason: str) -> None:
    ours = exchange()
    ours.first()
    with pytest.raises(RefusedError, match=reason.replace("(", r"\(")):
        ours.final(answer)


@pytest.mark.parametrize("answer", [b"", b"v=", b"v=AAAA", b"v=?", b"x", SERVER_FINAL[:-3] + b"AA="])
def test_a_broker_that_does_not_know_the_password_is_not_believed(answer: bytes) -> None:
    ours = exchange()
    ours.first()
    ours.final(SERVER_FIRST)
    with pytest.raises(RefusedError):
        ours.verify(answer)


def test_what_the_broker_says_of_an_error_is_told() -> None:
    ours = exchange()
    ours.first()
    ours.final(SERVER_FIRST)
    with pytest.raises(RefusedError, match="it says 'unknown-user'"):
        ours.verify(b"e=unknown-user")
    assert scram.LEAST_ITERATIONS == 4096  # Kafka's ScramMechanism, minIterations
