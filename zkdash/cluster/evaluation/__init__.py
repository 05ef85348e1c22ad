"""What the checks have against one topic or group: judged when it changes, kept by `blame.Blaming`.

A judge is pure and takes one thing and the ground it stands on; it answers with a cause for each check that
fails, by the check's id. Each module names in CHECKS the ids that it answers for.
"""
