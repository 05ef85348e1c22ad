"""`[checks]` of the configuration: what is taken, and one sentence for everything that is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from zkdash import configuration
from zkdash.cluster.model.severity import Severity
from zkdash.configuration.checks import SEVERITIES, Checks, ChecksByCluster
from zkdash.configuration.errors import ConfigError

CLUSTER = '[clusters.main]\nzookeeper = "zk:2181"\n'


def load(tmp_path: Path, text: str) -> ChecksByCluster:
    file = tmp_path / "zkdash.toml"
    file.write_text(text)
    return configuration.read({"ZKDASH_CONFIG": str(file)}).checks_by_cluster


def test_without_a_file_or_a_table_everything_is_as_usual(tmp_path: Path) -> None:
    usual = configuration.read({}).checks_by_cluster.of("main")
    assert usual == load(tmp_path, CLUSTER).of("main") == Checks()


def test_a_cluster_takes_over_what_its_own_table_lacks(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        CLUSTER
        + '[clusters.main.checks]\nunowned = 60\nalert_severity = "off"\n'
        + "[checks]\nunowned = 20\nstateless = 0.5\nalert_after = 5\n",
    )
    assert found.of("main") == Checks(unowned=60.0, stateless=0.5, alert_after=5.0, alert_severity="off")
    assert found.of("other") == Checks(unowned=20.0, stateless=0.5, alert_after=5.0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("checks = 3", "checks = 3 is no table: write [checks]"),
        ("[checks]\nuonwned = 3", "unknown key 'uonwned': known are abandoned, alert_after"),
        ("[checks]\nunowned = '8'", "unowned = '8' is no number of seconds above 0 and up to 31622400"),
        ("[checks]\nunowned = true", "unowned = True is no number"),
        ("[checks]\nunowned = -1", "unowned = -1 is no number"),
        ("[checks]\nunowned = nan", "unowned = nan is no number"),
        ("[checks]\nunowned = 0", "unowned = 0 is no number"),
        ("[checks]\nunowned = 1e9", "unowned = 1000000000.0 is no number"),
        ("[checks]\nbacklog = 1.5", "backlog = 1.5 is no whole number"),
        ("[checks]\nbacklog = 1e300", "is no whole number from 1 to 2147483647"),
        ("[checks]\nimbalance_percent = 101", "imbalance_percent = 101 is no number above 0 and up to 100"),
        ("[checks]\nalert_after = []", "alert_after = [] is no number"),
        (
            "[checks]\nalert_severity = 'loud'",
            "alert_severity = 'loud' is none: write one of critical, warning",
        ),
        ("[checks]\nalert_tone = 'off'", "[checks] has the unknown key 'alert_tone': write alert_severity."),
        (CLUSTER + "checks = 3", "clusters.main.checks = 3 is no table: write [clusters.main.checks]"),
        (CLUSTER + "[clusters.main.checks]\nx = 1", "[clusters.main.checks] has the unknown key 'x'"),
    ],
)
def test_it_refuses_and_says_what_and_where(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert told in str(caught.value)
    assert "zkdash.toml" in str(caught.value)


def test_a_severity_sends_what_is_as_bad_and_worse() -> None:
    sent = {
        severity: [one for one in Severity if Checks(alert_severity=severity).sends(one)]
        for severity in SEVERITIES
    }
    assert sent["critical"] == [Severity.CRITICAL]
    assert sent["warning"] == [Severity.CRITICAL, Severity.WARNING]
    assert Severity.INFO in sent["info"]
    assert sent["off"] == []
