"""Evaluation of topics and groups when they change; `model.violations` keeps what was found.

What is asked is pure: it takes one thing and the context that it stands in. What makes a topic's status,
too, is found here, in one pass over its partitions: each module names in CHECKS the ids that it answers
for. All else that is asked of a topic or a group is declared by its check, in `cluster.checks.families`.
"""
