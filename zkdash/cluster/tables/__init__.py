"""What tables show of a state: rows of plain values, filtered, sorted and cut."""
