"""Pages of a cluster as it was (`?at=`): what an address asks, who tells it, and how a page says so."""
