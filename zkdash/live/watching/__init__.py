"""One cluster's watcher, and what it learns beside the mirror."""
