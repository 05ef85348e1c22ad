"""The pages over a whole cluster, and over all of them."""
