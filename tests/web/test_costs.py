"""B12: no address costs a second of CPU, whatever its path, its query or its body."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import costs, full
from tests.conftest import Chroot
from tests.costs import Asked, Request, Site
from tests.door.test_served import signed_in
from tests.serving import starter
from tests.world import World
from zkdash.configuration.limits import Limits

pytestmark = pytest.mark.zk

CLUSTER = "default"
TOPICS = 50
# Of what each route may be asked by its path, its query and its body.
EVERY = full.pick(11, 1)
# Of what a body may hold.
SHARE = full.pick(1 / 8, 1.0)
SIZE = 60_000
PASSWORD = "correct+horse+battery"
SIGNED_IN = Request("", "", "/tokens/")
# Of a path beside what is hostile.
BESIDES = 100
# There are more routes with a parameter, and more with a form, than this.
LEAST = 20
BROKEN = {0, 500, 502}


@pytest.fixture
def site(tmp_path: Path, chroot: Chroot) -> Iterator[Site]:
    """A small cluster with something at each address, as its administrator sees it.

    Of each test's own: a body may change what the next test asks with.
    """
    world = World(chroot.client, chroot.address)
    for number in (1, 2, 3):
        world.broker(number, controller=number == 1)
    for name in ("orders", *(f"t{number}" for number in range(TOPICS))):
        world.topic(name, {0: [1, 2], 1: [2, 3]})
    chroot.client.create("/consumers/orders/offsets/orders/0", b"7", makepath=True)
    with starter(tmp_path) as start:
        config = tmp_path / "zkdash.toml"
        config.write_text(f'[clusters.default]\nzookeeper = "{chroot.address}"\nask_brokers = false\n')
        served = start(ZKDASH_CONFIG=config, options=("--no-execute",))
        served.wait_until_loaded()
        made = Site(served.address, served.pid, signed_in(served).removeprefix("Cookie: "))
        form = Request("", "", f"/c/{CLUSTER}/actions/new/create-topic/", "POST", b"do=propose&topic=new")
        assert made.ask(form).status == 303
        # The second person, whom what is posted may change: the first one asks.
        path = "/admin/auth/user/add/"
        bob = f"username=bob&usable_password=true&password1={PASSWORD}&password2={PASSWORD}"
        bob += "".join(f"&{name}=0" for name in made.names(path).posted if name.endswith("_FORMS"))
        assert made.ask(Request("", "", path, "POST", bob.encode())).status == 302
        yield made
    world.close()


def judged(site: Site, larger: Iterator[Asked], smaller: Iterator[Asked]) -> list[str]:
    """What is dearer than it may be, or grows faster than what it is asked, as lines."""
    assert site.ask(SIGNED_IN).status == 200
    wrong, count = [], 0
    for make, make_small in zip(larger, smaller, strict=True):
        count += 1
        large = make()
        found = site.ask(large)
        if found.status in BROKEN:
            wrong.append(f"{large.method} {large.route} {large.what}: {found.status}")
        if found.cpu_s > costs.NOTICED_S:
            before = site.ask(make_small()).cpu_s
            if found.cpu_s > min(costs.MOST_S, costs.MOST_GROWTH * before + costs.NOTICED_S):
                told = f"{found.cpu_s:.2f} s, {before:.2f} s for a quarter"
                wrong.append(f"{large.method} {large.route} {large.what}: {told}")
    assert count > len(costs.VALUES) * LEAST / EVERY
    return wrong


@pytest.mark.parametrize("size", [SIZE, Limits().path_characters - BESIDES])
def test_no_path_costs_much(site: Site, size: int) -> None:
    asked = [costs.of_paths(CLUSTER, one) for one in (size, size // costs.GROWTH)]
    assert judged(site, *(costs.some(one, EVERY) for one in asked)) == []


def test_no_query_costs_much(site: Site) -> None:
    asked = [costs.of_queries(site, CLUSTER, size) for size in (SIZE, SIZE // costs.GROWTH)]
    assert judged(site, *(costs.some(one, EVERY) for one in asked)) == []


def test_no_body_costs_much(site: Site) -> None:
    asked = [costs.of_bodies(site, CLUSTER, share) for share in (SHARE, SHARE / costs.GROWTH)]
    assert judged(site, *(costs.some(one, EVERY) for one in asked)) == []
