"""Every page of a cluster, in the order of the side bar. A new page is one module here and its template."""

from zkdash.web.actions import action, actions, audit
from zkdash.web.bookmarks import bookmarks
from zkdash.web.brokers import broker, brokers, failure
from zkdash.web.checks import check, checks, problems
from zkdash.web.configs import access, configs
from zkdash.web.differences import differences, znode_differences
from zkdash.web.disks import disk, log
from zkdash.web.frame.page import Page
from zkdash.web.groups import group, groups, how_it_works, what_if
from zkdash.web.history import chart, pipeline, table, timeline, trends
from zkdash.web.overview import kraft, number, overview, search
from zkdash.web.topics import topic, topics
from zkdash.web.why import why
from zkdash.web.zookeeper import session, znodes, zookeeper

_SEARCHED: tuple[Page, ...] = (
    overview.PAGE,
    brokers.PAGE,
    broker.PAGE,
    failure.PAGE,
    disk.PAGE,
    topics.PAGE,
    topic.PAGE,
    log.PAGE,
    groups.PAGE,
    group.PAGE,
    what_if.PAGE,
    checks.PAGE,
    check.PAGE,
    actions.PAGE,
    action.PAGE,
    audit.PAGE,
    problems.PAGE,
    timeline.PAGE,
    why.PAGE,
    differences.PAGE,
    znode_differences.PAGE,
    bookmarks.PAGE,
    trends.PAGE,
    pipeline.PAGE,
    table.PAGE,
    zookeeper.PAGE,
    znodes.PAGE,
    session.PAGE,
    how_it_works.PAGE,
    kraft.PAGE,
    configs.PAGE,
    access.PAGE,
)
PAGES: tuple[Page, ...] = (*_SEARCHED, search.declare(_SEARCHED))
# What only stands in frames of other pages: without an address, and a place in the navigation.
EMBEDDED: tuple[Page, ...] = (number.PAGE, chart.PAGE)
BY_NAME = {page.name: page for page in (*PAGES, *EMBEDDED)}
