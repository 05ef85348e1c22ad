"""Tables of Parquet files: what their Delta logs list, and how they are read and written."""
