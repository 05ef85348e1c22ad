"""Checks of the brokers' registrations and configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zkdash.cluster.analysis import registrations, takeovers
from zkdash.cluster.checks import offers
from zkdash.cluster.checks.check import About, Check, CheckContext, number
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.kafka import paths
from zkdash.kafka.values import Broker

_MOST_NAMED = 5


def _each(find: Callable[[Mapping[int, Broker]], Mapping[int, str]]) -> Callable[[CheckContext], Violations]:
    """Causes by broker from what the registrations tell: the brokers' words of why."""

    def causes(sight: CheckContext) -> Violations:
        reasons = find(registrations.registered(sight.state))
        return {str(broker): Violation(why=why) for broker, why in reasons.items()} or NOBODY

    return causes


def _doubled(registered: Mapping[int, Broker]) -> Mapping[int, str]:
    return {
        broker: f"{place} is announced by {_ids(brokers)}"
        for place, brokers in registrations.doubled(registered).items()
        for broker in brokers
    }


def _versions(registered: Mapping[int, Broker]) -> Mapping[int, str]:
    """The brokers of the older versions, which are still to come along."""
    versions = registrations.versions(registered)
    newest = max(versions, default=0)
    return {
        broker: f"version {version}, the newest is {newest}"
        for version, brokers in versions.items()
        if version != newest
        for broker in brokers
    }


def _listeners(registered: Mapping[int, Broker]) -> Mapping[int, str]:
    """The brokers whose listeners are not those of most."""
    by_names = registrations.listeners(registered)
    if len(by_names) < 2:
        return {}
    usual = max(by_names, key=lambda names: len(by_names[names]))
    return {
        broker: f"{', '.join(names)}, others have {', '.join(usual)}"
        for names, brokers in by_names.items()
        if names != usual
        for broker in brokers
    }


def _unreachable(registered: Mapping[int, Broker]) -> Mapping[int, str]:
    return {
        broker: ", ".join(_places(registered[broker])) for broker in registrations.unreachable(registered)
    }


def _rackless(registered: Mapping[int, Broker]) -> Mapping[int, str]:
    return dict.fromkeys(registrations.rackless(registered), "no rack")


def _places(broker: Broker) -> tuple[str, ...]:
    return broker.endpoints or (f"{broker.host}:{broker.port}",)


def _ids(brokers: list[int]) -> str:
    more = f" and {len(brokers) - _MOST_NAMED} more" if len(brokers) > _MOST_NAMED else ""
    return ", ".join(map(str, brokers[:_MOST_NAMED])) + more


def _absent(sight: CheckContext) -> Violations:
    """Configurations of topics that are not there, and of brokers that are not registered."""
    state = sight.state
    violations = {
        f"{paths.TOPIC_CONFIGS}/{name}": Violation(why="there is no such topic")
        for name, remnant in state.remnants.items()
        if remnant.config_znode is not None
    }
    for entity in state.configs:
        kind, _, name = entity.partition("/")
        if kind == "brokers" and paths.is_id(name) and int(name) not in state.brokers:
            violations[f"/config/{entity}"] = Violation(why="no such broker is registered; it may be down")
    return violations or NOBODY


def _alternating(sight: CheckContext) -> Violations:
    """Ids that went from one address to another and back."""
    within = sight.thresholds.takeovers_within
    return {
        str(broker): Violation(
            since=history[-1].at, why=f"{_named(history[1].places)}, then {_named(history[2].places)} again"
        )
        for broker, history in takeovers.alternating(sight.registrations, sight.now, within).items()
    } or NOBODY


def _named(places: tuple[str, ...]) -> str:
    return " ".join(places[:_MOST_NAMED])


CHECKS: tuple[Check, ...] = (
    Check(
        id="D29",
        severity=Severity.INFO,
        about=About.ZNODE,
        causes=_absent,
        failing=lambda count, _: (
            f"{number(count, 'configuration is', 'configurations are')} of a topic or broker that is not"
            " there"
        ),
        passing="Every configuration of a topic or broker belongs to an existing one",
        computed="/config/topics or /config/brokers has a child for which /brokers/topics or /brokers/ids has"
        " none.",
        remedy="A topic that is created under the name takes it on: remove it.",
        deeds=("clear-configs",),
        offer=offers.absent_topics,
    ),
    Check(
        id="D31",
        severity=Severity.CRITICAL,
        about=About.BROKER,
        causes=_each(_doubled),
        failing=lambda _, brokers: (
            f"{number(brokers, 'broker announces', 'brokers announce')} the same address"
        ),
        passing="No two brokers announce the same address",
        computed="A host and port stand in the registrations of more than one broker.",
        remedy="Set advertised.listeners of each broker to where it alone is found.",
    ),
    Check(
        id="D32",
        severity=Severity.INFO,
        about=About.BROKER,
        causes=_each(_versions),
        failing=lambda _, brokers: (
            f"{number(brokers, 'broker is', 'brokers are')} registered in an older version than others"
        ),
        passing="All brokers are registered in the same version",
        computed="The version of the registrations in /brokers/ids differs. A warning after a day.",
        remedy="Finish the rolling upgrade, or raise inter.broker.protocol.version everywhere.",
        worsens="upgrade",
    ),
    Check(
        id="D33",
        severity=Severity.WARNING,
        about=About.BROKER,
        causes=_each(_listeners),
        failing=lambda _, brokers: (
            f"{number(brokers, 'broker has', 'brokers have')} different listeners from most"
        ),
        passing="All brokers have the same listeners",
        computed="The names of the listeners in the registrations' endpoints differ.",
        remedy="Make listeners and advertised.listeners alike on all brokers: clients of a listener see only"
        " the brokers that have it.",
    ),
    Check(
        id="D34",
        severity=Severity.WARNING,
        about=About.BROKER,
        causes=_each(_unreachable),
        failing=lambda _, brokers: (
            f"{number(brokers, 'broker announces', 'brokers announce')} an address that no other host can"
            " reach"
        ),
        passing="Every broker announces an address that others can reach",
        computed="The host of an endpoint is empty, 0.0.0.0 or ::, or it is localhost, of 127.0.0.0/8 or ::1"
        " while another endpoint of the cluster is not.",
        remedy="Set advertised.listeners to a name or address by which clients find the broker.",
    ),
    Check(
        id="D35",
        severity=Severity.WARNING,
        about=About.BROKER,
        causes=_each(_rackless),
        failing=lambda _, brokers: (
            f"{number(brokers, 'broker has', 'brokers have')} no rack while others have one"
        ),
        passing="All brokers tell their rack, or none does",
        computed="Some registrations have a rack, others none (KIP-36).",
        remedy="Set broker.rack on all of them: rack-aware assignment refuses to work otherwise.",
    ),
    Check(
        id="D64",
        severity=Severity.WARNING,
        about=About.BROKER,
        causes=_alternating,
        failing=lambda _, brokers: (
            f"{number(brokers, 'broker id is', 'broker ids are')} registered from two addresses in turn"
        ),
        passing="No broker id is registered from two addresses in turn",
        computed="/brokers/ids/N was registered at one address, then by another session at another, and"
        " within ten minutes at the first again, as this process saw. One move to another address is none of"
        " that, nor is a broker that starts again where it was.",
        remedy="Two servers have one broker.id: the second cannot register while the first is there, and"
        " takes its place when that session ends. Stop one of them, and give it an id and log directories of"
        " its own.",
        limits=("takeovers_within",),
    ),
)
