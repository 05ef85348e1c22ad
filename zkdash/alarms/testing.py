"""A test alert: sent at once to every address of a cluster, and told what came of it."""

from __future__ import annotations

import json
import uuid

import msgspec
from django.db import transaction
from django.utils import timezone

from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.notices import outbox, targets
from zkdash.notices.models import Delivery

EVENT = "alert-test"


class Result(msgspec.Struct, frozen=True):
    """What came of it at one address; `trouble` is "" where it was taken."""

    target: str
    trouble: str


def send(cluster: str, who: Actor) -> tuple[Result, ...]:
    """Try every address once, one after the other; each has a few seconds. It waits in no outbox."""
    now = timezone.now()
    sentence = f"A test alert, which {who.name} asked for. Nothing is wrong."
    checks = outbox.link(cluster, "checks/")
    body = {"event": EVENT, "cluster": cluster, **checks, "sentence": sentence, "by": who.name}
    results = []
    for name in targets.names(cluster):
        target = targets.find(cluster, name)
        delivery = Delivery(
            event=EVENT,
            cluster=cluster,
            about="test alert",
            sentence=sentence[:300],
            body=json.dumps(body).encode("ascii"),
            target=name,
            key=uuid.uuid4().hex,
            made_at=now,
            next_at=now,
        )
        trouble = target.send(delivery) if target else "the configuration does not have it any more"
        results.append(Result(name, trouble))
    with transaction.atomic():
        audit.append(EVENT, who, cluster=cluster, detail=msgspec.to_builtins(results))
    return tuple(results)
