"""Who should own what in a group, computed from its registrations as its members compute it.

All of this is done for the one group that is looked at, never for all of them.
"""
