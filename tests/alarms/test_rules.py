"""`[checks]` of the configuration: what is taken, and one sentence for everything that is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from zkdash.alarms import rules
from zkdash.alarms.rules import Rules
from zkdash.cluster.checks import Thresholds
from zkdash.cluster.model.tone import Tone
from zkdash.zk import config
from zkdash.zk.connection.identity import ConfigError

CLUSTER = '[clusters.main]\nzookeeper = "zk:2181"\n'


def load(tmp_path: Path, text: str) -> rules.Configured:
    file = tmp_path / "zkdash.toml"
    file.write_text(text)
    environ = {"ZKDASH_CONFIG": str(file)}
    config.load(environ)  # the other reader of the file takes the same tables
    return rules.load(environ)


def test_without_a_file_or_a_table_everything_is_as_usual(tmp_path: Path) -> None:
    assert rules.load({}).of("main") == load(tmp_path, CLUSTER).of("main") == Rules()


def test_a_cluster_takes_over_what_its_own_table_lacks(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        CLUSTER
        + '[clusters.main.checks]\nunowned = 60\nalert_tone = "off"\n'
        + "[checks]\nunowned = 20\nstateless = 0.5\nalert_after = 5\n",
    )
    assert found.of("main") == Rules(
        Thresholds(unowned=60.0, stateless=0.5), alert_after=5.0, alert_tone="off"
    )
    assert found.of("other") == Rules(Thresholds(unowned=20.0, stateless=0.5), alert_after=5.0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("checks = 3", "[checks] is no table"),
        ("[checks]\nuonwned = 3", "unknown key 'uonwned': known are abandoned, alert_after"),
        ("[checks]\nunowned = '8'", "unowned = '8' is no number above 0 and up to"),
        ("[checks]\nunowned = true", "unowned = True is no number"),
        ("[checks]\nunowned = -1", "unowned = -1 is no number"),
        ("[checks]\nunowned = nan", "unowned = nan is no number"),
        ("[checks]\nunowned = 0", "unowned = 0 is no number"),
        ("[checks]\nunowned = 1e9", "unowned = 1000000000.0 is no number"),
        ("[checks]\nbacklog = 1.5", "backlog = 1.5 is no whole number"),
        ("[checks]\nbacklog = 1e300", "is no number above 0 and up to 2147483647"),
        ("[checks]\nimbalance_percent = 101", "imbalance_percent = 101 is no number above 0 and up to 100"),
        ("[checks]\nalert_after = []", "alert_after = [] is no number"),
        ("[checks]\nalert_tone = 'loud'", "alert_tone = 'loud' is none: write one of critical, warning"),
        (CLUSTER + "checks = 3", "[clusters.main.checks] is no table"),
        (CLUSTER + "[clusters.main.checks]\nx = 1", "[clusters.main.checks] has the unknown key 'x'"),
    ],
)
def test_it_refuses_and_says_what_and_where(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert told in str(caught.value)
    assert "zkdash.toml" in str(caught.value)


def test_a_tone_sends_what_is_as_bad_and_worse() -> None:
    sent = {tone: [one for one in Tone if Rules(alert_tone=tone).sends(one)] for tone in rules.TONES}
    assert sent["critical"] == [Tone.CRITICAL]
    assert sent["warning"] == [Tone.CRITICAL, Tone.WARNING]
    assert Tone.INFO in sent["info"]
    assert sent["off"] == []
