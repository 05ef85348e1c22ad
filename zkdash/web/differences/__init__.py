"""What differs between two moments of a cluster (`?from=…&at=…`): in sentences, and znode by znode."""
