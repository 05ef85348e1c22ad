"""Every page of a cluster, in the order of the navigation. A new page is one module here and its template."""

from zkdash.web.actions import action, actions, audit
from zkdash.web.brokers import broker, brokers, failure
from zkdash.web.checks import check, checks, problems
from zkdash.web.configs import access, configs
from zkdash.web.frame.page import Page
from zkdash.web.groups import group, groups, what_if
from zkdash.web.history import chart, pipeline, timeline, trends
from zkdash.web.overview import kraft, number, overview, search
from zkdash.web.topics import topic, topics
from zkdash.web.zookeeper import session, znodes, zookeeper

PAGES: tuple[Page, ...] = (
    overview.PAGE,
    brokers.PAGE,
    broker.PAGE,
    failure.PAGE,
    topics.PAGE,
    topic.PAGE,
    groups.PAGE,
    group.PAGE,
    what_if.PAGE,
    configs.PAGE,
    access.PAGE,
    actions.PAGE,
    action.PAGE,
    audit.PAGE,
    checks.PAGE,
    check.PAGE,
    kraft.PAGE,
    problems.PAGE,
    zookeeper.PAGE,
    znodes.PAGE,
    session.PAGE,
    trends.PAGE,
    timeline.PAGE,
    pipeline.PAGE,
    search.PAGE,
)
# What only stands in frames of other pages: without an address, and a place in the navigation.
EMBEDDED: tuple[Page, ...] = (number.PAGE, chart.PAGE)
BY_NAME = {page.name: page for page in (*PAGES, *EMBEDDED)}
