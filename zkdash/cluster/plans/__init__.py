"""What zkdash would write for an intent, as a value: planned from a state, reviewed, then executed elsewhere.

Nothing here writes, waits or draws lots: the same intent on the same ground gives the same plan.
"""
