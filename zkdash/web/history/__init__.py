"""The pages of what was: trends, the timeline, and the pipeline that makes their tables."""
