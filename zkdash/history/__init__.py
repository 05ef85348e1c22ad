"""What was: tables of Parquet files that the pipeline and the recorder write, read without Spark."""
