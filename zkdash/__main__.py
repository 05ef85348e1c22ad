"""`python -m zkdash`, which is `zkdash`."""

from zkdash.management import cli

cli.main()
