"""Families of samples as Prometheus' client takes them, with a cluster each."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.metrics_core import GaugeMetricFamily

Value = float | None


def gauge(
    name: str, meaning: str, samples: Iterable[tuple[tuple[str, ...], Value]], *labels: str
) -> GaugeMetricFamily:
    """One family by cluster; what is not known is no sample."""
    family = GaugeMetricFamily(f"zkdash_{name}", meaning, labels=["cluster", *labels])
    for values, value in samples:
        if value is not None:
            family.add_metric(list(values), value)
    return family
