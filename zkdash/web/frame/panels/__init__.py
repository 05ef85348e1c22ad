"""What several subjects show alike: placements, shares, changes, incidents."""
