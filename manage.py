#!/usr/bin/env python
"""The command line of zkdash in a checkout: serve, demo, and Django's own commands."""

from zkdash.management import cli

if __name__ == "__main__":
    cli.manage()
