"""What programs ask for beside the pages: health, metrics, the feed, the document of all that; and tokens."""
