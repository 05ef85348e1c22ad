"""Notices as mails, over real SMTP."""

from __future__ import annotations

import smtplib

import pytest
from pytest_django.fixtures import Settings

from tests.notices.conftest import NOTICE, Tell
from tests.notices.receiving import Mailbox
from zkdash.notices import mail, outbox
from zkdash.notices.courier import Courier
from zkdash.notices.models import Delivery
from zkdash.notices.outbox import Notice

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _smtp(settings: Settings, configured: Tell) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    settings.DEFAULT_FROM_EMAIL = "zkdash@example.org"
    configured(mail=("ops@example.org",))


def test_a_notice_comes_as_a_mail_that_reads_by_its_subject(settings: Settings) -> None:
    with Mailbox() as mailbox:
        settings.EMAIL_PORT = mailbox.port
        outbox.enqueue(NOTICE)
        assert Courier().turn()
    [(recipient, mail)] = mailbox.mails
    assert recipient == "ops@example.org"
    assert (mail["Subject"], mail["From"]) == ("[zkdash shop] Action 42 is done.", "zkdash@example.org")
    lines = mail.get_content().splitlines()
    assert lines[:2] == ["Action 42 is done.", ""]
    assert {"event: action-ended", "cluster: shop", "id: 42", "state: done"} <= {*lines}
    assert mail["Message-ID"] == f"<{Delivery.objects.get().key}@zkdash>"


def test_a_mail_leads_to_the_page_that_tells_more(settings: Settings) -> None:
    settings.ZKDASH_ADDRESS = "https://kafka.example.org"
    with Mailbox() as mailbox:
        settings.EMAIL_PORT = mailbox.port
        outbox.enqueue(NOTICE)
        assert Courier().turn()
    [(_, mail)] = mailbox.mails
    lines = mail.get_content().splitlines()
    assert lines[:3] == ["Action 42 is done.", "https://kafka.example.org/c/shop/actions/42/", ""]


def test_a_name_adds_no_header_and_breaks_no_mail(settings: Settings) -> None:
    strange = "x\r\nBcc: eve@example.org\ud800 ü"
    with Mailbox() as mailbox:
        settings.EMAIL_PORT = mailbox.port
        outbox.enqueue(Notice("check-raised", "shop", "check D1", strange, {"name": strange}))
        assert Courier().turn()
    [(recipient, mail)] = mailbox.mails
    assert recipient == "ops@example.org"
    assert mail["Bcc"] is None
    assert mail["Subject"].strip() == "[zkdash shop] x\ufffd\ufffdBcc: eve@example.org\ufffd ü"


def test_a_server_that_refuses_or_is_not_there_is_said_and_tried_again(settings: Settings) -> None:
    with Mailbox(refuses=True) as mailbox:
        settings.EMAIL_PORT = mailbox.port
        outbox.enqueue(NOTICE)
        assert not Courier().turn()
    row = Delivery.objects.get()
    assert row.last_error == "the SMTP server refused it: 550 (SMTPRecipientsRefused)"
    Delivery.objects.update(next_at=row.made_at)
    assert not Courier().turn()
    row = Delivery.objects.get()
    assert row.last_error == "the SMTP server was not reached: Connection refused"
    assert (row.attempts, row.ended_at) == (2, None)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            smtplib.SMTPAuthenticationError(535, b"5.7.8 no: secret-canary"),
            "535 5.7.8 (SMTPAuthenticationError)",
        ),
        (smtplib.SMTPDataError(554, "5.7.1234 odd"), "554 (SMTPDataError)"),
        (smtplib.SMTPRecipientsRefused({"a@b": (450, b"4.2.1")}), "450 4.2.1 (SMTPRecipientsRefused)"),
        (smtplib.SMTPServerDisconnected("gone"), "(SMTPServerDisconnected)"),
        (
            smtplib.SMTPNotSupportedError("STARTTLS"),
            "it does not offer what is asked for, STARTTLS or signing in",
        ),
    ],
)
def test_a_refusal_is_told_by_its_code_and_never_by_the_servers_words(
    error: smtplib.SMTPException, words: str
) -> None:
    assert mail.refusal(error) == words
