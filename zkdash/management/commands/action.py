"""`manage.py action`: the queue of actions from a shell, JSON in and out."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from zkdash.access import rights
from zkdash.access.roles import Right
from zkdash.actions import documents
from zkdash.actions.documents import DocumentError
from zkdash.actions.models import Action
from zkdash.actions.queue import planning, queue
from zkdash.actions.queue.queue import Actor, QueueError
from zkdash.actions.reading import reader
from zkdash.actions.reading.entries import UnavailableError
from zkdash.actions.states import State
from zkdash.cluster import foresight
from zkdash.cluster.checks.check import CheckContext
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import planner
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Plan
from zkdash.management import database
from zkdash.web.actions import foreseen
from zkdash.zk.config import ClusterConfig, named
from zkdash.zk.reader.one_shot import OneShotError

_HELP = """Plan, queue and follow actions. What is printed is JSON; a refusal is one sentence on standard
error, with exit code 1. An INTENT is JSON such as {"kind": "delete-topic", "topic": "clicks"}, the name of a
file with it, or - for standard input. Who can run this can write into the database anyway, so that --as NAME
is believed; what NAME may not do on the cluster is refused all the same."""

Options = dict[str, Any]


class Command(BaseCommand):
    """Plan, queue and follow actions from a shell."""

    help = _HELP

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        deeds = parser.add_subparsers(dest="deed", required=True, metavar="DEED")

        plan = deeds.add_parser("plan", help="print what would be written; writes nothing")
        ask = deeds.add_parser("queue", help="propose and submit an action; without --yes only plan it")
        for command in (plan, ask):
            command.add_argument("--cluster", required=True, help="as in the configuration")
            command.add_argument("intent", metavar="INTENT", help="JSON, a file, or -")
        ask.add_argument("--yes", action="store_true", help="queue it; without, nothing is written")
        ask.add_argument("--confirm", metavar="TEXT", help="what the plan says is to be typed")
        ask.add_argument("--reason", default="", help="why, for the others")
        ask.add_argument("--not-before", type=_moment, metavar="TIME", help="2026-11-21T03:00:00Z")
        ask.add_argument("--repeat", type=int, metavar="SECONDS", help="again and again, planned anew")

        show = deeds.add_parser("show", help="print an action with its steps, its plan and its audit")
        show.add_argument("id", type=int, help="its number")
        listed = deeds.add_parser("list", help="print the actions in flight and the newest of the others")
        listed.add_argument("--cluster", help="only of this cluster")
        listed.add_argument("--state", choices=[str(state) for state in State], help="only in this state")

        for name, description in _ASKED.items():
            command = deeds.add_parser(name, help=description)
            command.add_argument("id", type=int, help="its number")
            command.add_argument("--as", dest="name", required=True, metavar="NAME", help="an existing user")
        ask.add_argument("--as", dest="name", required=True, metavar="NAME", help="an existing user")
        settled = deeds.add_parser("settle", help="say what became of a write that nobody could tell of")
        settled.add_argument("id", type=int, help="its number")
        settled.add_argument("--as", dest="name", required=True, metavar="NAME", help="an existing user")
        settled.add_argument("--applied", choices=("yes", "no"), required=True)
        settled.add_argument("sentence", help="what was seen in ZooKeeper")

    def handle(self, *_args: object, **options: Any) -> None:
        database.prepare()
        try:
            printed = _DEEDS[options["deed"]](options)
        except (QueueError, DocumentError, OneShotError, UnavailableError) as error:
            raise CommandError(str(error)) from error
        # ASCII only, so that a lone surrogate in somebody's name is still valid JSON.
        self.stdout.write(json.dumps(msgspec.to_builtins(printed, str_keys=True), indent=2))


def _plan(options: Options) -> dict[str, Any]:
    config = _cluster(options["cluster"])
    plan, state = _planned(config, documents.intent(_given(options["intent"])))
    return _foretold(config, plan, state)


def _planned(config: ClusterConfig, intent: Intent) -> tuple[Plan, ClusterState]:
    """The plan for an intent, and the cluster it was made of. Raises CommandError where it is refused."""
    ground = planning.ground(config, intent)
    plan = planner.plan(intent, ground)
    if plan.refusals:
        raise CommandError(" ".join(plan.refusals))
    return plan, ground.state


def _foretold(config: ClusterConfig, plan: Plan, state: ClusterState) -> dict[str, Any]:
    """A plan, and under "foreseen" what it would do to the findings, as the JSON of its page has it."""
    thresholds = settings.ZKDASH_CHECKS.of(config.name)
    (effect,) = foresight.foresee([plan], CheckContext(state, thresholds=thresholds, now=time.time()))
    return {**msgspec.to_builtins(plan, str_keys=True), "foreseen": foreseen.record(effect)}


def _queue(options: Options) -> object:
    config = _cluster(options["cluster"])
    who = _who(options["name"], config.name, Right.ACT)
    intent = documents.intent(_given(options["intent"]))
    plan, state = _planned(config, intent)
    if not options["yes"]:
        sys.stderr.write("Nothing was queued: this is the plan; repeat it with --yes.\n")
        return _foretold(config, plan, state)
    if plan.confirm is not None and options["confirm"] != plan.confirm:
        raise CommandError(f"Nothing was queued: this asks for --confirm {json.dumps(plan.confirm)}.")
    proposed = queue.propose(
        config.name,
        intent,
        plan,
        who,
        reason=options["reason"],
        not_before=options["not_before"],
        repeat_s=options["repeat"],
        needs_approval=config.approval,
    )
    return _shown(queue.submit(proposed.id, who))


def _show(options: Options) -> object:
    action = queue.find(options["id"])
    return reader.detail(action.cluster, action.id)


def _list(options: Options) -> object:
    names = [cluster.name for cluster in settings.ZKDASH_CLUSTERS]
    chosen = names if options["cluster"] is None else [_cluster(options["cluster"]).name]
    entries = reader.begin(chosen).entries
    wanted = [entry for entry in entries if options["state"] in {None, entry.state}]
    return sorted(wanted, key=lambda entry: entry.id, reverse=True)


def _ask(options: Options) -> object:
    deed = options["deed"]
    action = queue.find(options["id"])
    who = _who(options["name"], action.cluster, Right.APPROVE if deed == "approve" else Right.ACT)
    return _shown(_VERBS[deed](action.id, who))


def _settle(options: Options) -> object:
    action = queue.find(options["id"])
    who = _who(options["name"], action.cluster, Right.ACT)
    return _shown(queue.settle(action.id, who, options["applied"] == "yes", options["sentence"]))


def _shown(action: Action) -> object:
    detail = reader.detail(action.cluster, action.id)
    return detail and detail.entry


def _cluster(name: str) -> ClusterConfig:
    if config := named(settings.ZKDASH_CLUSTERS, name):
        return config
    names = ", ".join(config.name for config in settings.ZKDASH_CLUSTERS) or "none is configured"
    raise CommandError(f"There is no cluster {name!r} ({names}).")


def _who(name: str, cluster: str, right: Right) -> Actor:
    """The user of that name, if they may do that on the cluster."""
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is no user {name!r}: --as takes the name of an existing one.")
    if not rights.of(user, anonymous_reads=False).may(right, cluster):
        raise CommandError(f"{name} may not {right.value} on {cluster}: an administrator can grant it.")
    return Actor(name, user.pk, "command")


def _given(text: str) -> bytes | str:
    if text == "-":
        return sys.stdin.buffer.read()
    if text.lstrip().startswith("{"):
        return text
    try:
        return Path(text).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise CommandError(f"Cannot read {text!r}: {why}. Give JSON, a file, or - for it.") from error


def _moment(text: str) -> datetime.datetime:
    """A time with its zone; UTC where none is given."""
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2026-11-21T03:00:00Z") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


_ASKED: Final = {
    "approve": "release what somebody else asked for",
    "stop": "withdraw an action, or stop it before its next step",
    "pause": "hold an action back",
    "resume": "let a paused action go on",
}
_VERBS: Final[dict[str, Callable[[int, Actor], Action]]] = {
    "approve": queue.approve,
    "stop": queue.stop,
    "pause": queue.pause,
    "resume": queue.resume,
}
_DEEDS: Final[dict[str, Callable[[Options], object]]] = {
    "plan": _plan,
    "queue": _queue,
    "show": _show,
    "list": _list,
    "settle": _settle,
    **dict.fromkeys(_ASKED, _ask),
}
