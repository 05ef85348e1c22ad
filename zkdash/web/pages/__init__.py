"""Every page of a cluster, in the order of the navigation. A new page is one module here and its template."""

from zkdash.web.page import Page
from zkdash.web.pages import (
    access,
    action,
    actions,
    audit,
    broker,
    brokers,
    check,
    checks,
    configs,
    failure,
    group,
    groups,
    number,
    overview,
    pipeline,
    problems,
    search,
    session,
    timeline,
    topic,
    topics,
    trends,
    what_if,
    znodes,
)

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
    problems.PAGE,
    znodes.PAGE,
    session.PAGE,
    trends.PAGE,
    timeline.PAGE,
    pipeline.PAGE,
    search.PAGE,
)
# What only stands in frames of other pages: without an address, and a place in the navigation.
EMBEDDED: tuple[Page, ...] = (number.PAGE,)
BY_NAME = {page.name: page for page in (*PAGES, *EMBEDDED)}
