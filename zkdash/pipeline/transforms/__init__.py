"""From changes to the tables of `history.store.derived`: pure functions, DataFrames in, a DataFrame out.

What data means is told by the same parsers as live, applied to each distinct value of an Arrow batch.
Order is by (zxid, op_index), never by time.
"""
