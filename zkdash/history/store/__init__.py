"""Tables of Parquet files: what a manifest lists, and how it is read and written."""
