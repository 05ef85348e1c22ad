"""A notice as a mail: its sentence as the subject, below it where it leads and what else is told."""

from __future__ import annotations

import json
import re
from smtplib import SMTPException, SMTPNotSupportedError, SMTPRecipientsRefused, SMTPResponseException
from typing import Final

import msgspec
from django.core.mail import EmailMessage

from zkdash.notices.models import Delivery

_ENHANCED: Final = re.compile(r"[245]\.\d{1,3}\.\d{1,3}\b", re.ASCII)  # RFC 3463


class Mail(msgspec.Struct, frozen=True):
    """An address of the configuration."""

    address: str

    @property
    def name(self) -> str:
        return f"mailto:{self.address}"

    def send(self, delivery: Delivery) -> str:
        """Hand it once to the SMTP server of the settings; what went wrong, "" where it was taken."""
        message = EmailMessage(
            subject=f"[zkdash {delivery.cluster}] {delivery.sentence}",
            body=text(delivery),
            to=[self.address],
            # The same however often it is tried, so that a mailbox can tell a copy.
            headers={"Message-ID": f"<{delivery.key}@zkdash>", "Auto-Submitted": "auto-generated"},
        )
        try:
            message.send()
        except SMTPException as error:
            return f"the SMTP server refused it: {refusal(error)}"
        except OSError as error:
            return f"the SMTP server was not reached: {error.strerror or error}"
        return ""


def refusal(error: SMTPException) -> str:
    """What an SMTP server said no to, by its code (RFC 5321, RFC 3463): "550 5.1.1 (SMTPRecipientsRefused)".

    Its words are left out: they may repeat what is secret.
    """
    if isinstance(error, SMTPNotSupportedError):
        return "it does not offer what is asked for, STARTTLS or signing in"
    answers: list[tuple[int, bytes | str]] = []
    if isinstance(error, SMTPResponseException):
        answers = [(error.smtp_code, error.smtp_error)]
    elif isinstance(error, SMTPRecipientsRefused):
        answers = list(error.recipients.values())
    codes = [_code(*answer) for answer in answers[:1]]
    return " ".join((*codes, f"({type(error).__name__})"))


def _code(code: int, words: bytes | str) -> str:
    text = words.decode("ascii", "replace") if isinstance(words, bytes) else words
    enhanced = _ENHANCED.match(text)
    return f"{code} {enhanced[0]}" if enhanced else str(code)


def text(delivery: Delivery) -> str:
    """The body of a mail: the sentence, the page that tells more, and each other field that has a value."""
    fields = json.loads(bytes(delivery.body))
    link = filter(None, [fields.pop("url", "")])
    lines = (
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in fields.items()
        if value not in (None, "")
    )
    # A lone surrogate of some name has no place in a mail.
    return "\n".join((delivery.sentence, *link, "", *lines, "")).encode("utf-8", "backslashreplace").decode()
