"""A notice as a mail: its sentence as the subject, and below it what else is told, a line each."""

from __future__ import annotations

import json
from smtplib import SMTPException

import msgspec
from django.core.mail import EmailMessage

from zkdash.notices.models import Delivery


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
            return f"the SMTP server refused it: {type(error).__name__}"
        except OSError as error:
            return f"the SMTP server was not reached: {error.strerror or error}"
        return ""


def text(delivery: Delivery) -> str:
    """The body of a mail: the sentence, then each field that has a value."""
    fields = json.loads(bytes(delivery.body))
    lines = (
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in fields.items()
        if value not in (None, "")
    )
    # A lone surrogate of some name has no place in a mail.
    return "\n".join((delivery.sentence, "", *lines, "")).encode("utf-8", "backslashreplace").decode()
