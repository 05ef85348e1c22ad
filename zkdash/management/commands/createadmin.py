"""`manage.py createadmin`: an administrator by name and password, or a one-time link that makes one."""

from __future__ import annotations

import argparse
import getpass
import sys

from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from zkdash import program
from zkdash.access import administrators
from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.management import database


class Command(BaseCommand):
    """Make an administrator of every cluster, who grants roles to others."""

    help = "Make an administrator, or give an existing user another password and make them one."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", help="user name")
        how = parser.add_mutually_exclusive_group()
        how.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input"
        )
        how.add_argument("--link", action="store_true", help="print a link that works once, for an hour")

    def handle(self, *_args: object, **options: object) -> None:
        name = str(options["name"] or "")
        if not options["link"] and not name:
            typed = program.line("createadmin alice")
            raise CommandError(f"Name the administrator: “{typed}”, or ask for a --link.")
        if name:
            _check(name)
        database.prepare()
        if options["link"]:
            self.stdout.write(f"/welcome/{administrators.invite(name)}/")
            self.stdout.write(
                "Add this to the address of zkdash. It makes an administrator, once, for an hour."
            )
            return
        password = sys.stdin.readline().rstrip("\n") if options["password_stdin"] else _asked()
        try:
            validate_password(password, User(username=name))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        administrators.appoint(name, password)
        audit.append("administrator-made", Actor(getpass.getuser(), source="command"), detail={"name": name})
        self.stdout.write(f"“{name}” is an administrator of every cluster.")


def _check(name: str) -> None:
    try:
        User.username_validator(UserCreationForm.base_fields["username"].clean(name))
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from None


def _asked() -> str:
    """The password from the terminal, twice the same."""
    if not sys.stdin.isatty():
        raise CommandError("There is no terminal to ask for the password; use --password-stdin or --link.")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Password again: ") != password:
        raise CommandError("The two passwords are not the same; nothing was changed.")
    return password
