"""Measurements against goals, each beside a baseline of the same run: `python -m bench --help`.

One module a row. Every measured side runs in a fresh process of its own and tells its own CPU and memory;
ratios count, not the machine's speed.
"""
