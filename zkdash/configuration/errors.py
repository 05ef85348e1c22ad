"""The one error of everything that is configured."""

from __future__ import annotations


class ConfigError(ValueError):
    """The configuration is wrong; the message is one sentence that names source, key and value."""
